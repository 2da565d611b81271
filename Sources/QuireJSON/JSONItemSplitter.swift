import QuireCore
import QuirePagination

/// A machine that splits a page of JSON, as it arrives, into its items, which it drops as soon as
/// they are taken, and the envelope around them.
///
/// It follows only the names on the path to the list and, inside the list, the ends of the items.
/// The content of items and envelope is checked when they are indexed. The machine is pure: no
/// clock, no waiting.
struct JSONItemSplitter {
  private enum State {
    /// Outside the list.
    case envelope
    /// In the list, before an item; `isFirst` before the first, where the list may also end.
    case beforeItem(isFirst: Bool)
    /// In the list, after an item.
    case afterItem
    /// In an item that is a string or a container.
    case item
    /// In an item that is a number or a literal.
    case scalar
  }

  /// The names that lead to the list.
  private let path: [[UInt8]]
  /// More bytes than any of these names takes in a page, where an escape has six bytes for one.
  private let longestName: Int
  private let limits: DecodingLimits
  private var state = State.envelope

  /// The number of open containers in the envelope.
  private var depth = 0
  /// The number of names of the path that lead to the current place. It equals `depth` at a value
  /// on the path, is one less among the names of an object on the path, and smaller elsewhere.
  private var matched = 0
  private var isInString = false
  private var isEscaped = false
  /// The last string in the envelope, without its quotes and cut at `longestName`. Before a colon,
  /// it is the name of a member.
  private var name: [UInt8] = []

  /// The bytes outside the items so far; once the list is closed, with its last item in place of
  /// all.
  private(set) var envelope: [UInt8] = []
  /// The items that were not taken yet, as a list of JSON without its closing bracket. The last one
  /// may be incomplete.
  private var list: [UInt8] = [UInt8(ascii: "[")]
  /// The ends of the complete items in `list`.
  private var ends: [Int] = []
  /// The last item that was taken, which stands for all items in the envelope.
  private var last: [UInt8] = []

  /// Complete items.
  struct Batch {
    /// The items as a list of JSON, and its padding.
    var list: [UInt8]
    /// The end of each item in `list`.
    var ends: [Int]

    /// Returns the bytes of the item at an index of the batch.
    func item(_ number: Int) -> ArraySlice<UInt8> {
      list[(number == 0 ? 1 : ends[number - 1] + 1)..<ends[number]]
    }

    /// Returns a batch of the first `count` items.
    func prefix(_ count: Int) -> Batch {
      let ends = Array(ends.prefix(count))
      var batch = Batch(list: Array(list[..<(ends.last ?? 1)]), ends: ends)
      batch.close()
      return batch
    }

    fileprivate mutating func close() {
      list.append(UInt8(ascii: "]"))
      list.append(contentsOf: repeatElement(0, count: JSONScanner.padding))
    }

    /// Returns the items as a document, which is a list.
    func document(_ limits: DecodingLimits) throws -> JSONDocument {
      try JSONDocument(padded: list, end: list.count - JSONScanner.padding, limits: limits)
    }
  }

  /// The number of bytes read so far.
  private(set) var bytes = 0
  /// The number of complete items so far.
  private(set) var count = 0
  /// Whether the list was found, and whether it was closed.
  private(set) var hasList = false
  private(set) var isClosed = false
  /// The offset in the envelope of the first byte after the list's opening bracket.
  private(set) var listOffset = 0
  /// The error in the list, if any, to be thrown once the items before it were taken.
  private(set) var fault: PageError?

  /// Fails unless the items are one list at one path of names.
  init?(_ selector: Pagination.Items, limits: DecodingLimits) {
    guard selector.arrangement == .lists, !selector.admitsOne, selector.paths.count == 1,
      let path = selector.paths.first
    else { return nil }
    var names: [[UInt8]] = []
    for step in path.steps {
      guard case .name(let name) = step else { return nil }
      names.append(Array(name.utf8))
    }
    self.path = names
    longestName = 6 * (names.map(\.count).max() ?? 0) + 1
    self.limits = limits
  }

  /// Adds the bytes before the value, such as a byte order mark, to the envelope.
  mutating func skip(_ prologue: ArraySlice<UInt8>) {
    envelope += prologue
    bytes += prologue.count
  }

  /// Reads the next bytes of the page, up to a fault.
  mutating func receive(_ slice: ArraySlice<UInt8>) {
    slice.withUnsafeBufferPointer { slice in
      var index = 0
      while index < slice.count, fault == nil {
        let start = index
        switch state {
        case .item, .scalar: index = readItem(slice, from: index)
        case .envelope:
          index = readEnvelope(slice, from: index)
          envelope.append(contentsOf: slice[start..<index])
        default: index = readBetween(slice, from: index)
        }
        bytes += index - start
      }
    }
  }

  /// Removes and returns the complete items; nil if there are none.
  mutating func takeItems() -> Batch? {
    guard let end = ends.last else { return nil }
    keepLast()
    var rest: [UInt8] = []
    // The next batch is likely as long, and needs room for the padding of its document.
    rest.reserveCapacity(list.count + 2 + JSONScanner.padding)
    rest.append(UInt8(ascii: "["))
    if end + 1 < list.count {
      rest += list[(end + 1)...]
      list.removeLast(list.count - end)
    }
    if list.count > end { list.removeLast() }
    var batch = Batch(list: [], ends: [])
    swap(&batch.list, &list)
    swap(&batch.ends, &ends)
    list = rest
    batch.close()
    return batch
  }

  private mutating func keepLast() {
    guard let end = ends.last else { return }
    last = Array(list[((ends.dropLast().last ?? 0) + 1)..<end])
  }

  /// The offset in `list` of the incomplete item.
  private var openStart: Int { (ends.last ?? 0) + 1 }

  /// The bytes of the incomplete item so far; empty between items.
  var openItem: ArraySlice<UInt8> { list.dropFirst(openStart) }

  var hasItems: Bool { !ends.isEmpty }

  // MARK: The envelope

  /// Reads past the opening bracket of the list, or to the end of the slice. Returns the next
  /// index.
  private mutating func readEnvelope(
    _ slice: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Int {
    var index = start
    while index < slice.count {
      let byte = slice[index]
      index += 1
      if isInString {
        readString(byte)
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        (isInString, isEscaped) = (true, false)
        name.removeAll(keepingCapacity: true)
      case UInt8(ascii: "["):
        if depth == matched, matched == path.count, !hasList {
          hasList = true
          listOffset = envelope.count + index - start
          state = .beforeItem(isFirst: true)
          return index
        }
        depth += 1
      case UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth = max(0, depth - 1)
        matched = min(matched, depth)
      case UInt8(ascii: ":"):
        if depth == matched + 1, matched < path.count, Self.is(name, path[matched]) { matched += 1 }
      case UInt8(ascii: ","):
        if matched == depth, depth > 0 { matched -= 1 }
      default: break
      }
    }
    return index
  }

  private mutating func readString(_ byte: UInt8) {
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
      return
    }
    if name.count < longestName { name.append(byte) }
  }

  private static func `is`(_ written: [UInt8], _ name: [UInt8]) -> Bool {
    guard written.contains(UInt8(ascii: "\\")) else { return written == name }
    let quoted = [UInt8(ascii: "\"")] + written + [UInt8(ascii: "\"")]
    guard case .string(let text)? = try? JSONValue(parsing: quoted) else { return false }
    return text.utf8.elementsEqual(name)
  }

  // MARK: The list

  /// Reads white space, commas and the end of the list, up to the beginning of an item. Returns the
  /// next index.
  private mutating func readBetween(
    _ slice: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Int {
    var index = start
    while index < slice.count {
      let byte = slice[index]
      switch (byte, state) {
      case (0x20, _), (0x09, _), (0x0A, _), (0x0D, _): break
      case (UInt8(ascii: ","), .afterItem): state = .beforeItem(isFirst: false)
      case (UInt8(ascii: "]"), .afterItem), (UInt8(ascii: "]"), .beforeItem(isFirst: true)):
        isClosed = true
        keepLast()
        envelope += last
        state = .envelope
        envelope.append(byte)
        return index + 1
      case (_, .afterItem):
        fault = unexpected(byte, "a comma or \"]\"", at: bytes + index - start)
        return index
      default:
        beginItem(byte)
        return index
      }
      index += 1
    }
    return index
  }

  private mutating func beginItem(_ byte: UInt8) {
    if let end = ends.last, list.count == end { list.append(UInt8(ascii: ",")) }
    depthOfItem = 0
    (isInString, isEscaped) = (false, false)
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): state = .item
    default: state = .scalar
    }
  }

  /// The number of open containers within the item.
  private var depthOfItem = 0

  /// Reads past the end of the item, or to the end of the slice. Returns the next index.
  private mutating func readItem(_ slice: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var index = start
    var isWhole = false
    if case .scalar = state {
      while index < slice.count, !isWhole {
        switch slice[index] {
        case UInt8(ascii: ","), UInt8(ascii: "]"), 0x20, 0x09, 0x0A, 0x0D: isWhole = true
        default: index += 1
        }
      }
      if isWhole, index == start, list.count == openStart {
        fault = unexpected(slice[index], "a value", at: bytes)
        return index
      }
    } else {
      (index, isWhole) = readContainer(slice, from: start)
    }
    list.append(contentsOf: slice[start..<index])
    guard list.count - openStart <= limits.itemBytes else {
      fault = limits.tooLarge(item: count)
      return index
    }
    if isWhole {
      ends.append(list.count)
      count += 1
      state = .afterItem
    }
    return index
  }

  private mutating func readContainer(
    _ slice: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> (end: Int, isWhole: Bool) {
    var index = start
    while index < slice.count {
      if isInString {
        let (end, isClosed) = JSONStringScanner.skip(slice, from: index, isEscaped: &isEscaped)
        (index, isInString) = (end, !isClosed)
        if isClosed, depthOfItem == 0 { return (index, true) }
        continue
      }
      let byte = slice[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depthOfItem += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depthOfItem -= 1
        if depthOfItem == 0 { return (index, true) }
      default: break
      }
    }
    return (index, false)
  }

  // MARK: Faults

  private func unexpected(_ byte: UInt8, _ expected: String, at offset: Int) -> PageError {
    let place = count > 0 ? "byte \(offset), behind item \(count - 1)" : "byte \(offset)"
    return PageError(
      .malformed,
      "The page is not valid JSON: at \(place), \(expected) should follow, not \(JSONFault.name(byte))."
    )
  }

  /// The error for a page that ends here; nil if its list is closed or was not found.
  var truncation: PageError? {
    guard hasList, !isClosed else { return nil }
    return PageError(
      .truncated,
      "The JSON page is cut off: it ends after \(bytes) bytes, in or behind item \(max(0, count - 1))."
    )
  }
}
