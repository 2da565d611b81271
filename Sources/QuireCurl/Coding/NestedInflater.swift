import QuireCore
import QuireHTTP

/// Removes a coding, and a second layer of gzip where it was declared and its content is a gzip file:
/// servers compress `sitemap.xml.gz` once more. Any further layer is left to the page's decoder to
/// refuse.
struct NestedInflater: ~Copyable {
  private var outer: ContentInflater
  private var inner: ContentInflater?
  private let innerLimits: TransferLimits?
  /// The first content, while it is too short to tell whether it is a gzip file; nil once that is
  /// known, or does not matter.
  private var start: [UInt8]?

  /// Creates an inflater whose second layer has these limits; nil to remove none.
  init(_ outer: consuming ContentInflater, innerLimits: TransferLimits?) {
    self.outer = outer
    self.innerLimits = innerLimits
    start = innerLimits == nil ? nil : []
  }

  /// Whether all streams have ended, and all of their content was delivered.
  var isDrained: Bool {
    guard outer.isDrained, start?.isEmpty ?? true else { return false }
    switch inner {
    case .some(let inner): return inner.isDrained
    case nil: return true
    }
  }

  /// Takes wire bytes, which follow those not consumed yet.
  mutating func receive(_ bytes: [UInt8]) { outer.receive(bytes) }

  /// Returns the next slice; nil if more wire bytes are needed.
  mutating func next() throws(PageError) -> [UInt8]? {
    while true {
      if let slice = try inner?.next() { return slice }
      guard var slice = try outer.next() else { return nil }
      if let earlier = start {
        slice = earlier + slice
        let isGzip = BodyDecoder.magic.starts(with: slice.prefix(BodyDecoder.magic.count))
        start = isGzip && slice.count < BodyDecoder.magic.count ? slice : nil
        guard start == nil else { continue }
        if isGzip, let innerLimits { inner = try ContentInflater(.gzip, limits: innerLimits) }
      }
      guard inner != nil else { return slice }
      inner?.receive(slice)
    }
  }

  /// Checks that nothing is missing, once the transfer has ended.
  func finish() throws(PageError) {
    try outer.finish()
    switch inner {
    case .some(let inner): try inner.finish()
    case nil: break
    }
    guard start?.isEmpty ?? true else { throw BodyDecoder.cutMagic }
  }
}
