package import QuireCore
package import QuirePagination

/// A check of a page of JSON against limits while it arrives, so that no more of a hostile page is
/// kept than they allow.
///
/// It reads only brackets, quotes and commas; the decoder checks that the page is JSON. Each
/// element of a list in the root object counts as an item. An item, or another member of the root
/// object, may hold as many values, names and brackets as a page may hold items, because its reader
/// gets all of them as values.
package struct JSONLimitGuard {
  private let limits: DecodingLimits

  /// The number of values that an item may have, even if the page may have fewer items.
  private static let leastValuesPerItem = 4_096

  /// The number of open containers, whether the second of them is a list in the root object, and
  /// whether the root is an object.
  private var depth = 0
  private var isListInObject = false
  private var isRootObject = false
  private var isInString = false
  private var isEscaped = false
  private var isInScalar = false
  /// The number of values, names and brackets so far.
  private var events = 0
  /// The number of events at the start of the current item, or of the current member of the root
  /// object.
  private var eventsAtItemStart = 0
  /// The number of elements, so far, of the current list in the root object.
  private var items = 0
  /// The number of bytes so far, and the offsets of the current token (a string, number or white
  /// space) and of the current item.
  private var bytes = 0
  private var tokenStart = 0
  private var itemStart = 0

  /// Creates a guard of one page. A string, a number or a run of white space may be as long as an
  /// item.
  package init(_ limits: DecodingLimits) { self.limits = limits }

  /// Reads the next bytes of the page. Throws `limitExceeded` as soon as they exceed a limit.
  package mutating func receive(_ slice: [UInt8]) throws(PageError) {
    let start = bytes
    let error = slice.withUnsafeBufferPointer { slice -> PageError? in
      var index = 0
      while index < slice.count {
        if isInString {
          let (end, isClosed) = JSONStringScanner.skip(slice, from: index, isEscaped: &isEscaped)
          (index, isInString) = (end, !isClosed)
          if isClosed { tokenStart = start + index }
        } else {
          read(slice[index], at: start + index)
          index += 1
        }
        bytes = start + index
        if let error = breach { return error }
      }
      return nil
    }
    if let error { throw error }
  }

  @inline(__always)
  private mutating func read(_ byte: UInt8, at place: Int) {
    switch byte {
    case UInt8(ascii: "\""):
      (isInString, isEscaped, isInScalar) = (true, false, false)
      tokenStart = place
      events += 1
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      isInScalar = false
      open(isList: byte == UInt8(ascii: "["), at: place)
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      isInScalar = false
      tokenStart = place
      depth = max(0, depth - 1)
    case UInt8(ascii: ","):
      isInScalar = false
      tokenStart = place
      if depth == 2, isListInObject { (items, itemStart) = (items + 1, place + 1) }
      if depth == 1 || (depth == 2 && isListInObject) { eventsAtItemStart = events }
    case UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D: isInScalar = false
    default:
      if !isInScalar { events += 1 }
      isInScalar = true
    }
  }

  private mutating func open(isList: Bool, at place: Int) {
    depth += 1
    events += 2
    tokenStart = place
    if depth == 1 { isRootObject = !isList }
    if depth == 2 {
      isListInObject = isList && isRootObject
      (items, itemStart, eventsAtItemStart) = (1, place + 1, events)
    }
  }

  /// The error for a page that exceeds a limit here; nil if it does not.
  @inline(__always)
  private var breach: PageError? {
    let isFine =
      depth <= limits.depth && events <= limits.events
      && events - eventsAtItemStart <= max(limits.items, Self.leastValuesPerItem)
      && bytes - tokenStart - 2 <= limits.itemBytes
      && !(depth >= 2 && isListInObject
        && (items > limits.items || bytes - itemStart - 1 > limits.itemBytes))
    return isFine ? nil : error
  }

  @inline(never)
  private var error: PageError {
    let (what, name) =
      if depth > limits.depth {
        ("nests more than \(limits.depth) containers", "DecodingLimits.depth")
      } else if events > limits.events {
        ("holds more than \(limits.events) values, names and brackets", "DecodingLimits.events")
      } else if events - eventsAtItemStart > max(limits.items, Self.leastValuesPerItem) {
        (
          "has more than \(max(limits.items, Self.leastValuesPerItem)) values in one item or member",
          "DecodingLimits.items"
        )
      } else if depth < 2 || !isListInObject {
        ("has a value of more than \(limits.itemBytes) bytes", "DecodingLimits.itemBytes")
      } else if items > limits.items {
        ("holds more than \(limits.items) items in a list", "DecodingLimits.items")
      } else {
        ("has an item of more than \(limits.itemBytes) bytes", "DecodingLimits.itemBytes")
      }
    return PageError(
      .limitExceeded, "At byte \(bytes), the JSON page \(what).",
      remedies: [.raise(.init(name))])
  }
}
