import QuirePagination

/// Follows the items of a page that is delivered while it arrives.
struct XMLItemTracker {
  private(set) var matcher: XMLItemMatcher
  /// The items that are whole and were not taken, in order.
  private(set) var whole = XMLBuffer<UInt32>(capacity: 64)
  /// The item being read, and how deep it lies.
  private(set) var open: (node: UInt32, depth: Int)?
  /// The item that was taken last.
  private(set) var kept: UInt32?
  /// How many items were taken.
  private(set) var taken = 0
  /// Bytes that were copied when items were taken last.
  private var cost = 0
  /// Where the source ended then.
  private var start = 0

  init(_ matcher: XMLItemMatcher) { self.matcher = matcher }

  func release() { whole.release() }

  /// The element whose start tag is on the tape was opened.
  mutating func opened(depth: Int, on tape: XMLTape, names: XMLNameTable) {
    // Within an item there is no other.
    guard open == nil else { return }
    let node = tape.current
    let name = UInt32(tape.records.base[Int(node)].name)
    if matcher.opened(name: name, in: names, has: { tape.passes($0, names: names) }) {
      open = (node, depth)
    }
  }

  /// The element at `depth` is about to be closed.
  mutating func closing(depth: Int) {
    if let item = open {
      guard item.depth == depth else { return }
      whole.append(item.node)
      open = nil
    }
    matcher.closed()
  }

  /// Whether the items are worth copying what stays behind, and so many bytes of `names`. A page that has
  /// much besides its items would otherwise cost the square of its length.
  func isWorthTaking(at end: Int, copying names: Int) -> Bool {
    let cost = cost + names
    return cost <= 16 << 10 || end - start >= cost
  }

  /// The items that are whole were taken.
  mutating func took(_ rest: XMLTape.Rest) {
    taken += whole.count
    whole.removeLast(whole.count)
    kept = rest.keptItem
    if let node = rest.openItem { open?.node = node }
    start = rest.tape.source.count
    cost =
      start + rest.tape.composed.count
      + rest.tape.records.count * MemoryLayout<XMLRecord>.stride
  }
}

extension XMLTape {
  /// Whether the innermost element, of which only the start tag is there, passes a predicate about
  /// an attribute.
  fileprivate func passes(_ predicate: XMLPath.Predicate, names: XMLNameTable) -> Bool {
    guard case .equals(.attribute(let wanted), let value) = predicate else { return false }
    return (Int(current) + 1..<records.count).contains { index in
      let record = records.base[index]
      let values: XMLBuffer<UInt8>
      switch record.kind {
      case .attribute: values = source
      case .composedAttribute: values = composed
      case .element, .text, .composedText, .space, .composedSpace, .namespace: return false
      }
      let bytes = UnsafeBufferPointer(
        start: values.base + Int(record.start), count: Int(record.length))
      return bytes.elementsEqual(value.utf8) && names.entries.base[record.name].matches(wanted)
    }
  }
}
