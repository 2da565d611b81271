import QuireCore
import QuirePagination

/// Takes a page of JSON apart as it arrives: into its items, which are forgotten as soon as they are
/// taken, and the envelope around them.
///
/// It follows the names of the items' path and, inside their list, where items begin and end. What
/// they hold is checked when they are indexed, and so is the envelope. Bytes in, decisions out: no
/// clock, no waiting.
struct JSONItemSplitter {
  private enum State {
    /// Outside the list.
    case envelope
    /// In the list, where an item or the end may follow; `isFirst` where no item has come.
    case beforeItem(isFirst: Bool)
    /// Behind an item.
    case afterItem
    /// In an item that is a string or a container.
    case item
    /// In an item that is a number or a literal.
    case scalar
  }

  /// The names that lead to the list.
  private let path: [[UInt8]]
  private let itemBytes: Int
  private var state = State.envelope

  /// Containers open in the envelope.
  private var depth = 0
  /// How many names of the path lead to the place: as many as `depth` where a value on the path is or
  /// follows, one fewer among the names of an object on the path, fewer still elsewhere.
  private var matched = 0
  private var isInString = false
  private var isEscaped = false
  /// The name, or any other string, that is being read in an object on the path.
  private var name: [UInt8] = []

  /// Everything but the items.
  private(set) var envelope: [UInt8] = []
  /// Items that are whole and were not taken yet, one behind the other, and where each ends.
  private var whole: [UInt8] = []
  private var ends: [Int] = []
  /// The item that is being read.
  private var open: [UInt8] = []
  /// The last item that was taken, which stands for all of them in the envelope.
  private var last: [UInt8] = []

  /// Bytes so far.
  private(set) var bytes = 0
  /// Items that are whole.
  private(set) var count = 0
  /// Whether the list was found, and whether it was closed.
  private(set) var hasList = false
  private(set) var isClosed = false
  /// Where the list begins in the envelope, behind its bracket.
  private(set) var listOffset = 0
  /// What is wrong with the list, once all items before were taken.
  private(set) var fault: PageError?

  /// Nil for items that are no list at one path of names.
  init?(_ selector: Pagination.Items, itemBytes: Int) {
    guard selector.arrangement == .lists, !selector.admitsOne, selector.paths.count == 1,
      let path = selector.paths.first
    else { return nil }
    var names: [[UInt8]] = []
    for step in path.steps {
      guard case .name(let name) = step else { return nil }
      names.append(Array(name.utf8))
    }
    self.path = names
    self.itemBytes = itemBytes
  }

  /// Takes bytes that stand before the value, such as a byte order mark.
  mutating func skip(_ prologue: ArraySlice<UInt8>) {
    envelope += prologue
    bytes += prologue.count
  }

  /// Takes the next bytes.
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

  /// The items that are whole and were not taken yet.
  mutating func takeItems() -> [ArraySlice<UInt8>] {
    let items = zip([0] + ends, ends).map { whole[$0..<$1] }
    if let end = ends.last { last = Array(whole[(ends.dropLast().last ?? 0)..<end]) }
    whole = []
    ends.removeAll(keepingCapacity: true)
    return items
  }

  var hasItems: Bool { !ends.isEmpty }

  // MARK: The envelope

  /// Reads up to behind the bracket that opens the list, or to the end of the slice.
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
    // Longer than any name that is looked for: escapes take six bytes for one.
    if name.count < 4096 { name.append(byte) }
  }

  /// Whether a name as it is written is the one that is looked for.
  private static func `is`(_ written: [UInt8], _ name: [UInt8]) -> Bool {
    guard written.contains(UInt8(ascii: "\\")) else { return written == name }
    let quoted = [UInt8(ascii: "\"")] + written + [UInt8(ascii: "\"")]
    guard case .string(let text)? = try? JSONValue(parsing: quoted) else { return false }
    return text.utf8.elementsEqual(name)
  }

  // MARK: The list

  /// Reads white space, commas and the end of the list, up to where an item begins.
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
        if let end = ends.last { last = Array(whole[(ends.dropLast().last ?? 0)..<end]) }
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
    open.removeAll(keepingCapacity: true)
    depthOfItem = 0
    (isInString, isEscaped) = (false, false)
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): state = .item
    default: state = .scalar
    }
  }

  /// Containers open within the item.
  private var depthOfItem = 0

  /// Reads up to behind the item, or to the end of the slice.
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
      if isWhole, index == start, open.isEmpty {
        fault = unexpected(slice[index], "a value", at: bytes)
        return index
      }
    } else {
      (index, isWhole) = readContainer(slice, from: start)
    }
    open.append(contentsOf: slice[start..<index])
    guard open.count <= itemBytes else {
      fault = tooLarge
      return index
    }
    if isWhole {
      whole += open
      ends.append(whole.count)
      count += 1
      open.removeAll(keepingCapacity: true)
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
        index = endOfString(slice, from: index)
        if !isInString, depthOfItem == 0 { return (index, true) }
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

  /// Reads on in a string, eight bytes at a time where none of them is a quote or a backslash.
  private mutating func endOfString(
    _ slice: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Int {
    guard let bytes = slice.baseAddress else { return start }
    var index = start
    while index < slice.count {
      if isEscaped {
        isEscaped = false
        index += 1
        continue
      }
      while index + 8 <= slice.count {
        let special = JSONScanner.special(in: JSONScanner.load(bytes + index))
        index += special == 0 ? 8 : special.trailingZeroBitCount >> 3
        if special != 0 { break }
      }
      guard index < slice.count else { break }
      let byte = slice[index]
      index += 1
      if byte == UInt8(ascii: "\\") { isEscaped = true }
      if byte == UInt8(ascii: "\"") {
        isInString = false
        return index
      }
    }
    return index
  }

  // MARK: Faults

  private func unexpected(_ byte: UInt8, _ expected: String, at offset: Int) -> PageError {
    PageError(
      .malformed,
      "The page is not valid JSON: at byte \(offset), behind item \(count - 1), \(expected) should follow, "
        + "not \(ServerText(String(UnicodeScalar(byte)))).")
  }

  private var tooLarge: PageError {
    PageError(
      .limitExceeded,
      "Item \(count) of the page, counted from 0, has more than \(itemBytes) bytes.",
      remedies: [.raise(.init("DecodingLimits.itemBytes"))])
  }

  /// The error of a page that ends here, unless its list is whole or never came.
  var truncation: PageError? {
    guard hasList, !isClosed else { return nil }
    return PageError(
      .truncated,
      "The JSON page is cut off: it ends after \(bytes) bytes, in or behind item \(max(0, count - 1))."
    )
  }
}
