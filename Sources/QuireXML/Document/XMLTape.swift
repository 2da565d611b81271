import QuirePagination
import Synchronization

/// A page's structure while it grows: the page as UTF-8, the values that it does not hold verbatim,
/// and one record for each element, attribute, namespace declaration and text.
///
/// It is trivial memory, because libxml2 calls in here for every tag. `release()` frees it; an
/// `XMLIndex` made of the tape calls that itself.
struct XMLTape {
  /// The page from `origin` on.
  var source: XMLBuffer<UInt8>
  /// Values that `source` does not hold verbatim, such as text with references.
  var composed: XMLBuffer<UInt8>
  var records: XMLBuffer<XMLRecord>
  /// The place in the page where `source` begins.
  var origin = XMLPlace()
  /// The innermost open element.
  var current: UInt32 = 0
  /// Whether the last record is text that may continue.
  var textIsOpen = false

  /// Creates an empty tape with the least memory.
  init() {
    source = XMLBuffer(capacity: 0)
    records = XMLBuffer(capacity: 0)
    composed = XMLBuffer(capacity: 0)
  }

  /// Returns an empty tape: the spare one, or a new one with room for a page of 32 KiB.
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

  /// Releases the memory, which may be kept for another tape.
  func release() { XMLSpareTape.offer(self)?.free() }

  func free() {
    source.release()
    composed.release()
    records.release()
  }

  /// The size of the tape's memory in bytes.
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

  /// Adds an attribute of the element just opened, whose value stands in the source.
  @inline(__always)
  mutating func append(attribute name: UInt32, at offset: Int, count: Int) {
    append(.attribute, name: name, start: offset, length: count)
  }

  /// Adds an attribute or namespace of the element just opened, with a copy of its value.
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

  /// Adds text; `offset` is its place in the source, nil if it does not stand there verbatim.
  /// Returns the number of bytes of the open text.
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

  /// Ends the open text, and marks it as space if it is only white space.
  @inline(__always)
  private mutating func closeText() {
    guard textIsOpen else { return }
    textIsOpen = false
    let record = records.base + (records.count - 1)
    let isComposed = record.pointee.kind == .composedText
    let bytes = (isComposed ? composed.base : source.base) + Int(record.pointee.start)
    var index = 0
    while index < Int(record.pointee.length) {
      guard bytes[index].isWhiteSpace else { return }
      index += 1
    }
    record.pointee.kind = isComposed ? .composedSpace : .space
  }
}

/// Pages that are larger than memory: complete items are taken off the tape.
extension XMLTape {
  /// The tape that continues one whose complete items were taken.
  struct Rest {
    var tape: XMLTape
    /// The last item taken, of which a copy is kept for paths into the last item.
    var keptItem: UInt32
    var openItem: UInt32?
    /// The number of bytes of `source` that are not in the new tape.
    var forgotten: Int
    /// The number of records that are not in the new tape.
    var forgottenRecords: Int
  }

  /// Returns a tape that continues this one without the complete `items`, except the last of them,
  /// and without `keptItem`, the last item of the previous split. Closes all elements of this tape.
  ///
  /// Records outside the open item are kept with copies of their values, so that their source is
  /// not needed; the open item is kept unchanged. `place` is the offset of the next byte to parse.
  mutating func split(
    items: UnsafeBufferPointer<UInt32>, keptItem: UInt32?, openItem: UInt32?, place: Int
  ) -> Rest {
    var rest = Splitting(self, from: openItem.map { Int(records.base[Int($0)].start) } ?? place)
    var forgets = (keptItem.map { [$0] } ?? []) + items.dropLast()
    forgets.append(.max)
    var nextForgotten = 0
    var index = 0
    while index < records.count {
      if index == forgets[nextForgotten] {
        nextForgotten += 1
        rest.skip(index)
        index = Int(records.base[index].next)
      } else {
        if isSpaceAroundItems(index, openItem) {
          rest.skip(index)
        } else {
          rest.keep(index, asItIs: openItem.map { index >= $0 } ?? false)
        }
        index += 1
      }
    }
    rest.finish()
    closeAll()
    let last = items[items.count - 1]
    return Rest(
      tape: rest.tape, keptItem: rest.places[Int(last)],
      openItem: openItem.map { rest.places[Int($0)] }, forgotten: rest.forgotten,
      forgottenRecords: records.count - rest.tape.records.count)
  }

  /// Whether a record is white space beside items, which is dropped, because there is one for each
  /// item.
  private func isSpaceAroundItems(_ index: Int, _ openItem: UInt32?) -> Bool {
    let record = records.base[index]
    guard record.kind == .space || record.kind == .composedSpace else { return false }
    return records.base[Int(record.parent)].next == 0 && openItem.map { index < $0 } ?? true
  }

  private func closeAll() {
    guard records.count > 0 else { return }
    var node = Int(current)
    while true {
      if records.base[node].next == 0 {
        records.base[node].next = UInt32(truncatingIfNeeded: records.count)
      }
      if node == 0 { return }
      node = Int(records.base[node].parent)
    }
  }

  /// A tape being split.
  private struct Splitting {
    let old: XMLTape
    var tape: XMLTape
    /// The index in the new tape of each record of the old one, as far as it is known.
    var places: [UInt32]
    let forgotten: Int

    init(_ old: XMLTape, from start: Int) {
      self.old = old
      forgotten = start
      places = [UInt32](repeating: 0, count: old.records.count + 1)
      tape = XMLTape.withRoom()
      tape.origin = old.origin
      tape.origin.advance(over: UnsafeBufferPointer(start: old.source.base, count: start))
      tape.source.append(old.source.base + start, count: old.source.count - start)
      tape.textIsOpen = old.textIsOpen
    }

    private var next: UInt32 { UInt32(truncatingIfNeeded: tape.records.count) }

    mutating func skip(_ index: Int) { places[index] = next }

    mutating func keep(_ index: Int, asItIs: Bool) {
      places[index] = next
      var record = old.records.base[index]
      record.parent = places[Int(record.parent)]
      switch record.kind {
      case .element where asItIs, .text where asItIs, .space where asItIs,
        .attribute where asItIs:
        record.start -= UInt32(truncatingIfNeeded: forgotten)
      case .element:
        // Only an item's bytes are ever read.
        (record.start, record.length) = (0, 0)
      case .text: move(&record, to: .composedText, from: old.source)
      case .space: move(&record, to: .composedSpace, from: old.source)
      case .attribute: move(&record, to: .composedAttribute, from: old.source)
      case .composedText, .composedSpace, .composedAttribute, .namespace:
        move(&record, to: record.kind, from: old.composed)
      }
      tape.records.append(record)
    }

    private mutating func move(
      _ record: inout XMLRecord, to kind: XMLRecord.Kind, from values: XMLBuffer<UInt8>
    ) {
      let start = tape.composed.count
      tape.composed.append(values.base + Int(record.start), count: Int(record.length))
      record.kind = kind
      record.start = UInt32(truncatingIfNeeded: start)
    }

    /// Converts the ends of elements, after all records were kept or skipped.
    mutating func finish() {
      places[old.records.count] = next
      for index in 0..<tape.records.count {
        let end = tape.records.base[index].next
        if end != 0 { tape.records.base[index].next = places[Int(end)] }
      }
      tape.current = old.records.count > 0 ? places[Int(old.current)] : 0
    }
  }
}

extension XMLTape {
  /// Returns the place in the page of a byte of `source`, for messages: the time is linear in the
  /// bytes before it.
  func place(of offset: Int) -> XMLPlace {
    var place = origin
    place.advance(
      over: UnsafeBufferPointer(start: source.base, count: min(max(offset, 0), source.count)))
    return place
  }
}

/// The memory of a released tape, kept for the next one. Getting memory from the system and
/// returning it would take a quarter of the time of a page.
enum XMLSpareTape {
  // SAFETY: a tape is trivial memory, and leaves the lock with its only user.
  private struct Spare: @unchecked Sendable {
    var tape: XMLTape
  }

  /// The most bytes that are kept, 8 MiB.
  private static let largest = 8 << 20

  private static let spare = Mutex<Spare?>(nil)

  /// Removes and returns the spare tape, if there is one; it is empty.
  static func take() -> XMLTape? {
    spare.withLock { spare in
      defer { spare = nil }
      return spare?.tape
    }
  }

  /// Keeps the larger of this tape and the spare one, up to `largest`. Returns the other, to be
  /// freed.
  static func offer(_ tape: XMLTape) -> XMLTape? {
    let offered = Spare(tape: tape.emptied)
    return spare.withLock { [offered] spare -> Spare? in
      guard offered.tape.capacity <= largest,
        offered.tape.capacity > spare?.tape.capacity ?? 0
      else { return offered }
      defer { spare = offered }
      return spare
    }?.tape
  }
}

extension XMLTape {
  fileprivate var emptied: XMLTape {
    var tape = self
    tape.source.removeAll()
    tape.composed.removeAll()
    tape.records.removeAll()
    (tape.origin, tape.current, tape.textIsOpen) = (XMLPlace(), 0, false)
    return tape
  }
}

/// One entry of a document's tape: 20 bytes, in document order.
///
/// An element is followed by its namespace declarations, its attributes and its content.
struct XMLRecord: BitwiseCopyable {
  enum Kind: UInt32 {
    case element
    /// Text that stands verbatim in the source.
    case text
    /// Text that does not: it has references, or comes from several sections.
    case composedText
    /// White space that stands verbatim in the source.
    case space
    /// White space that does not.
    case composedSpace
    case attribute
    /// An attribute whose value does not stand verbatim in the source.
    case composedAttribute
    /// A namespace declaration: the name is the prefix, the value the URI.
    case namespace
  }

  /// Three bits of kind, 29 bits of name.
  private var bits: UInt32
  /// The element around this record; the root element's own index for the root.
  var parent: UInt32
  /// The index of the record after everything in this element; 0 while the element is open.
  var next: UInt32
  /// The offset of the first byte: for an element, of its `<` in the source; for others, of the
  /// value.
  var start: UInt32
  /// The number of bytes; for an element, up to the end of its end tag.
  var length: UInt32

  @inline(__always)
  init(_ kind: Kind, name: UInt32, parent: UInt32, next: UInt32, start: Int, length: Int) {
    bits = kind.rawValue << 29 | name
    self.parent = parent
    self.next = next
    self.start = UInt32(truncatingIfNeeded: start)
    self.length = UInt32(truncatingIfNeeded: length)
  }

  @inline(__always)
  var kind: Kind {
    get {
      // The kind is never nil: only the tape makes records, and only from kinds.
      Kind(rawValue: bits >> 29) ?? .space
    }
    set { bits = newValue.rawValue << 29 | bits & 0x1FFF_FFFF }
  }

  @inline(__always)
  var name: Int { Int(bits & 0x1FFF_FFFF) }

  /// The largest page whose offsets fit a record.
  static let maximumOffset = Int(UInt32.max)
}

/// Functions on the bytes of a text.
package enum XMLText {
  /// Returns the byte of the small letter, for one of a capital letter of ASCII.
  @inlinable
  @inline(__always)
  package static func lowercased(_ byte: UInt8) -> UInt8 {
    0x41...0x5A ~= byte ? byte | 0x20 : byte
  }

  /// Returns the bytes without white space at either end.
  package static func trimmed(
    _ bytes: UnsafeBufferPointer<UInt8>
  ) -> UnsafeBufferPointer<UInt8> {
    var start = 0
    var end = bytes.count
    while start < end, bytes[start].isWhiteSpace { start += 1 }
    while end > start, bytes[end - 1].isWhiteSpace { end -= 1 }
    return UnsafeBufferPointer(rebasing: bytes[start..<end])
  }

  /// Returns the bytes without white space at an end where it is more than spaces, and without any
  /// around a whole number; empty for white space alone.
  static func trimmedOfLayout(
    _ bytes: UnsafeBufferPointer<UInt8>
  ) -> UnsafeBufferPointer<UInt8> {
    let inner = trimmed(bytes)
    guard !inner.allSatisfy({ (0x30...0x39).contains($0) }) else { return inner }
    let before = bytes.prefix(while: { $0.isWhiteSpace })
    let behind = bytes.suffix(from: (bytes.lastIndex { !$0.isWhiteSpace } ?? bytes.startIndex) + 1)
    let start = before.allSatisfy { $0 == 0x20 } ? bytes.startIndex : before.endIndex
    let end = behind.allSatisfy { $0 == 0x20 } ? bytes.endIndex : behind.startIndex
    return UnsafeBufferPointer(rebasing: bytes[start..<end])
  }
}
