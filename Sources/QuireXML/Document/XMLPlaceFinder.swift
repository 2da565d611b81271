/// Finds the places of many nodes, in order, in one pass over the page: a page may be full of items
/// that cannot be decoded.
struct XMLPlaceFinder {
  private let index: XMLIndex
  /// The place of the byte `offset` of the source.
  private var place: XMLPlace
  private var offset = 0

  init(_ index: XMLIndex) {
    self.index = index
    place = index.origin
  }

  mutating func place(of node: Int) -> XMLPlace {
    let start = min(Int(index.record(node).start), index.source.count)
    if start < offset { self = XMLPlaceFinder(index) }
    place.advance(over: UnsafeBufferPointer(rebasing: index.source[offset..<start]))
    offset = start
    return place
  }
}
