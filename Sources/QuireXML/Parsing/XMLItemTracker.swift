import QuirePagination

/// A tracker of the items of a page, for delivery as they arrive.
struct XMLItemTracker {
  private(set) var matcher: XMLItemMatcher
  /// The complete items that were not taken, in order.
  private(set) var complete = XMLBuffer<UInt32>(capacity: 64)
  /// The incomplete item and its depth.
  private(set) var open: (node: UInt32, depth: Int)?
  /// The last item taken, which the tape still has.
  private(set) var kept: UInt32?
  /// The number of items taken.
  private(set) var taken = 0
  /// The number of bytes copied when items were last taken.
  private var lastCopyCost = 0
  /// The length of the source after that.
  private var start = 0

  init(_ matcher: XMLItemMatcher) { self.matcher = matcher }

  func release() { complete.release() }

  /// Enters the element whose start tag is on the tape.
  mutating func opened(depth: Int, on tape: XMLTape, names: XMLNameTable) {
    // Items do not nest.
    guard open == nil else { return }
    let node = tape.current
    let name = UInt32(tape.records.base[Int(node)].name)
    if matcher.opened(name: name, in: names, has: { tape.passes($0, names: names) }) {
      open = (node, depth)
    }
  }

  /// Leaves the element at `depth`, before it is closed on the tape.
  mutating func closing(depth: Int) {
    if let item = open {
      guard item.depth == depth else { return }
      complete.append(item.node)
      open = nil
    }
    matcher.closed()
  }

  /// Whether taking the items now is worth copying the rest of the tape, and as many bytes of
  /// `names`. Otherwise a page with much content besides its items would take quadratic time.
  func isWorthTaking(at end: Int, copying names: Int) -> Bool {
    let cost = lastCopyCost + names
    return cost <= 16 << 10 || end - start >= cost
  }

  /// Notes that the complete items were taken.
  mutating func didTake(_ rest: XMLTape.Rest) {
    taken += complete.count
    complete.removeLast(complete.count)
    kept = rest.keptItem
    if let node = rest.openItem { open?.node = node }
    start = rest.tape.source.count
    lastCopyCost =
      start + rest.tape.composed.count
      + rest.tape.records.count * MemoryLayout<XMLRecord>.stride
  }
}

extension XMLTape {
  /// Whether the innermost element, of which only the start tag is read, passes a predicate about
  /// an attribute.
  fileprivate func passes(_ predicate: XMLPath.Predicate, names: XMLNameTable) -> Bool {
    guard case .equals(.attribute(let name), let wanted) = predicate else { return false }
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
      return name.hasValue(bytes, wanted) && names.entries.base[record.name].matches(name)
    }
  }
}
