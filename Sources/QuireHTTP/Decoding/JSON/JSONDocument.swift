public import QuireCore

/// A page of JSON: checked from end to end, indexed once, and asked without loss.
///
/// The page must be one RFC 8259 value in UTF-8. A byte order mark and the guards that some servers
/// put before JSON (`)]}'` and a line end, `while(1);`, `for(;;);`) are skipped. Text that no
/// string can hold (bytes that are no UTF-8, half a surrogate pair) and numbers beyond
/// `DecodingLimits.numberLength` cost only whoever asks for that value, so that one bad item need
/// not cost its page. Building takes one pass without recursion and keeps the bytes plus eight
/// bytes a value; names are compared byte by byte, never normalized.
public struct JSONDocument: PageDocument {
  /// The page as it came, and zeros behind it.
  let bytes: [UInt8]
  /// Where the page ends in `bytes`.
  let end: Int
  /// See `JSONWord`.
  let tape: [UInt64]
  /// Whether any value on the tape is flawed.
  let hasFlaws: Bool

  /// Checks and indexes a page.
  ///
  /// Throws `malformed` with the byte and line where the page stops being JSON, `truncated` when it
  /// ends before its value does, `limitExceeded` when it nests deeper or holds more than `limits`
  /// allow.
  public init(_ bytes: consuming [UInt8], limits: DecodingLimits = .api) throws {
    let end = bytes.count
    guard end <= JSONWord.maximumOffset else {
      throw PageError(
        .limitExceeded, "The JSON page has \(end) bytes, more than \(JSONWord.maximumOffset).")
    }
    let start = try JSONPrologue.length(of: bytes)
    bytes.append(contentsOf: repeatElement(0, count: JSONScanner.padding))
    var fault: JSONFault?
    var hasFlaws = false
    // Without any, the array would be the one that all empty arrays of the process share, and its
    // count written by all of them.
    let capacity = max(1, JSONScanner.wordCapacity(for: end - start, limits: limits))
    tape = bytes.withUnsafeBufferPointer { page in
      Array(unsafeUninitializedCapacity: capacity) { words, used in
        // Neither is empty: the page has its padding.
        guard let page = page.baseAddress, let words = words.baseAddress else { return }
        var scanner = JSONScanner(
          bytes: page, start: start, end: end, words: words, limits: limits)
        do throws(JSONFault) { try scanner.scan() } catch { fault = error }
        used = scanner.used
        hasFlaws = scanner.hasFlaws
      }
    }
    if let fault { throw fault.pageError(in: bytes[..<end]) }
    self.bytes = bytes
    self.end = end
    self.hasFlaws = hasFlaws
  }

  /// The value at `path`, or nil where there is none. An explicit null is `.null`.
  ///
  /// Throws `shape` when a name on the way occurs twice in its object, `malformed` when the value
  /// holds text that is no Unicode, `limitExceeded` when it holds a number beyond the limit. A step
  /// costs time linear in the members or elements it passes.
  public func value(at path: PagePath) throws -> JSONValue? {
    guard case .node(let node) = try find(path) else { return nil }
    return try value(of: node)
  }

  /// How many elements or members the container at `path` has; 1 for a scalar, 0 for an explicit
  /// null, nil where there is nothing.
  ///
  /// Throws `shape` when a name on the way occurs twice in its object.
  public func count(at path: PagePath) throws -> Int? {
    guard case .node(let node) = try find(path) else { return nil }
    return count(of: node)
  }

  private func count(of node: Int) -> Int {
    let word = word(at: node)
    return word.kind.isContainer ? word.length : word.kind == .null ? 0 : 1
  }

  /// The value at `path` that the page says of itself: `*` looks into no item. Throws as `value(at:)`.
  public func value(
    at path: PagePath, outsideItemsOf items: ItemSelector
  ) throws -> JSONValue? {
    guard case .node(let node) = try find(path, outsideItemsOf: items) else { return nil }
    return try value(of: node)
  }

  /// As `count(at:)`; `*` looks into no item.
  public func count(at path: PagePath, outsideItemsOf items: ItemSelector) throws -> Int? {
    guard case .node(let node) = try find(path, outsideItemsOf: items) else { return nil }
    return count(of: node)
  }

  /// The value at `path` below the last item of the page, or nil where there is none.
  ///
  /// Throws as `value(at:)` does, and `shape` when the items are not where `items` says.
  public func value(at path: PagePath, inLastItemOf items: ItemSelector) throws -> JSONValue? {
    let (page, lists) = try arranged(for: items)
    guard let list = lists.last(where: { page.word(at: $0).length > 0 }),
      let item = page.element(of: list, at: page.word(at: list).length - 1),
      case .node(let node) = try page.find(path, from: item)
    else { return nil }
    return try page.value(of: node)
  }

  /// The value at `path` below each item of the page, in order; nil for an item that has none there.
  ///
  /// Throws as `value(at:inLastItemOf:)` does.
  public func values(at path: PagePath, inItemsOf items: ItemSelector) throws -> [JSONValue?] {
    let (page, lists) = try arranged(for: items)
    return try lists.flatMap { Array(page.elements(of: $0)) }.map { item in
      guard case .node(let node) = try page.find(path, from: item) else { return nil }
      return try page.value(of: node)
    }
  }
}
