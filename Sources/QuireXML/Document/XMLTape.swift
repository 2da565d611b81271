/// A page's structure while it grows: the page itself as UTF-8, the values that are not in it as
/// they are, and one record for everything.
///
/// Trivial memory, because libxml2 calls in here for every tag: `release()` or `XMLDocument` ends it.
struct XMLTape {
  /// The page, or what of it is not yet forgotten.
  var source: XMLBuffer<UInt8>
  /// Values that had to be put together.
  var composed: XMLBuffer<UInt8>
  var records: XMLBuffer<XMLRecord>
  /// Where `source` begins in the page.
  var origin = XMLPlace()
  /// The innermost open element.
  var current: UInt32 = 0
  /// Whether the last record is text that may go on.
  var textIsOpen = false

  /// An empty tape without room.
  init() {
    source = XMLBuffer(capacity: 0)
    records = XMLBuffer(capacity: 0)
    composed = XMLBuffer(capacity: 0)
  }

  /// A tape with another one's memory.
  init(memoryOf other: XMLTape) {
    source = other.source
    records = other.records
    composed = other.composed
  }

  /// An empty tape with room for some thousand bytes, or for as much as the spare one has.
  static func withRoom() -> XMLTape {
    if let spare = XMLSpareTape.take() { return spare }
    var tape = XMLTape()
    tape.reserve(32 << 10)
    return tape
  }

  private mutating func reserve(_ bytes: Int) {
    source.reserve(bytes)
    records.reserve(bytes / 32)
    composed.reserve(1 << 10)
  }

  /// Ends the tape; its memory may serve another one.
  func release() { XMLSpareTape.offer(self)?.free() }

  func free() {
    source.release()
    composed.release()
    records.release()
  }

  /// Bytes of memory.
  var capacity: Int {
    source.capacity + composed.capacity + records.capacity * MemoryLayout<XMLRecord>.stride
  }

  // MARK: Elements

  @inline(__always)
  mutating func open(_ name: UInt32, at offset: Int) {
    closeText()
    let index = UInt32(truncatingIfNeeded: records.count)
    records.append(
      XMLRecord(.element, name: name, parent: current, next: 0, start: offset, length: 0))
    current = index
  }

  @inline(__always)
  mutating func close(at end: Int) {
    closeText()
    let record = records.base + Int(current)
    record.pointee.next = UInt32(truncatingIfNeeded: records.count)
    record.pointee.length = UInt32(truncatingIfNeeded: end) &- record.pointee.start
    current = record.pointee.parent
  }

  /// Adds what belongs to the start tag just opened and stands in the source.
  @inline(__always)
  mutating func append(attribute name: UInt32, at offset: Int, count: Int) {
    append(.attribute, name: name, start: offset, length: count)
  }

  /// Adds what belongs to the start tag just opened and has a value of its own.
  mutating func append(
    _ kind: XMLRecord.Kind, name: UInt32, value: UnsafePointer<UInt8>, count: Int
  ) {
    append(kind, name: name, start: composed.count, length: count)
    composed.append(value, count: count)
  }

  @inline(__always)
  private mutating func append(_ kind: XMLRecord.Kind, name: UInt32, start: Int, length: Int) {
    let next = UInt32(truncatingIfNeeded: records.count + 1)
    records.append(
      XMLRecord(kind, name: name, parent: current, next: next, start: start, length: length))
  }

  // MARK: Text

  /// Adds text; `offset` is where it stands in the source, or nil. Returns the bytes of the text so
  /// far.
  @inline(__always)
  mutating func append(text: UnsafePointer<UInt8>, count: Int, at offset: Int?) -> Int {
    if !textIsOpen, let offset {
      textIsOpen = true
      append(.text, name: 0, start: offset, length: count)
      return count
    }
    return continueText(text, count, offset)
  }

  private mutating func continueText(
    _ text: UnsafePointer<UInt8>, _ count: Int, _ offset: Int?
  ) -> Int {
    if !textIsOpen {
      textIsOpen = true
      append(.composedText, name: 0, start: composed.count, length: 0)
    }
    let record = records.base + (records.count - 1)
    let start = Int(record.pointee.start)
    let length = Int(record.pointee.length)
    if record.pointee.kind == .text, offset != start + length {
      record.pointee.kind = .composedText
      record.pointee.start = UInt32(truncatingIfNeeded: composed.count)
      composed.append(source.base + start, count: length)
    }
    if record.pointee.kind == .composedText { composed.append(text, count: count) }
    record.pointee.length = UInt32(truncatingIfNeeded: length + count)
    return length + count
  }

  /// Ends the open text, and tells white space from text.
  @inline(__always)
  private mutating func closeText() {
    guard textIsOpen else { return }
    textIsOpen = false
    let record = records.base + (records.count - 1)
    let isComposed = record.pointee.kind == .composedText
    let bytes = (isComposed ? composed.base : source.base) + Int(record.pointee.start)
    var index = 0
    while index < Int(record.pointee.length) {
      guard XMLText.isSpace(bytes[index]) else { return }
      index += 1
    }
    record.pointee.kind = isComposed ? .composedSpace : .space
  }
}
