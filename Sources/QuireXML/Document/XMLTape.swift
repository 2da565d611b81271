import Synchronization

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

/// Pages that are larger than memory: items leave the tape once they are whole.
extension XMLTape {
  /// The rest of a tape, once whole items are dropped.
  struct Rest {
    var tape: XMLTape
    /// The last item that left, which is kept for paths that ask for it.
    var keptItem: UInt32
    var openItem: UInt32?
    /// Bytes of `source` that are not in the new tape.
    var forgotten: Int
    /// Records that are not in the new tape.
    var forgottenRecords: Int
  }

  /// A tape that continues this one without `items`, which are whole, but for the last
  /// of them, and without the item `keptItem` of the last time.
  ///
  /// What is outside of items is kept, with copies of its values, so that the source can go; of the item
  /// that is open, everything is kept as it is. `place` is the byte that comes next. This tape is
  /// closed: nothing in it is open any more.
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

  /// White space beside items: there is one for each of them.
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
    /// Where each record of the old tape is in the new one, as far as it is known.
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
        // Only items are asked for their bytes.
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

    /// Every record behind `keep` has its place now.
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
  /// Where a byte of `source` stands in the page. Linear in what is before it: only for messages.
  func place(of offset: Int) -> XMLPlace {
    var place = origin
    place.advance(
      over: UnsafeBufferPointer(start: source.base, count: min(max(offset, 0), source.count)))
    return place
  }
}

/// The memory of a tape that was released, for the next one: a quarter of the time of a page went
/// into getting memory from the system and giving it back.
enum XMLSpareTape {
  // SAFETY: a tape is trivial memory, and leaves the lock with its only user.
  private struct Spare: @unchecked Sendable {
    var tape: XMLTape
  }

  /// What is kept when nothing is being read, at most.
  private static let largest = 8 << 20

  private static let spare = Mutex<Spare?>(nil)

  /// An empty tape, if there is one.
  static func take() -> XMLTape? {
    spare.withLock { spare in
      defer { spare = nil }
      return spare?.tape
    }
  }

  /// Keeps the larger of this tape and the one that is there. Returns the one to be freed.
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
    /// Text that stands in the source as it is.
    case text
    /// Text that had to be put together: with references, from several sections, with line ends
    /// made one character.
    case composedText
    /// Text that is white space, as it is in the source.
    case space
    /// White space that had to be put together.
    case composedSpace
    case attribute
    /// An attribute whose value is not in the source as it is.
    case composedAttribute
    /// A namespace declaration: the name is the prefix, the value the URI.
    case namespace
  }

  /// Three bits of kind, 29 bits of name.
  private var bits: UInt32
  /// The element around this record; the root element's own index for the root.
  var parent: UInt32
  /// The record behind everything in this element.
  var next: UInt32
  /// The first byte: of an element, of its `<` in the source; of the others, of their value.
  var start: UInt32
  /// Bytes: of an element, to the end of its end tag.
  var length: UInt32

  @inline(__always)
  init(_ kind: Kind, name: UInt32 = 0, parent: UInt32, next: UInt32, start: Int, length: Int) {
    bits = kind.rawValue << 29 | name
    self.parent = parent
    self.next = next
    self.start = UInt32(truncatingIfNeeded: start)
    self.length = UInt32(truncatingIfNeeded: length)
  }

  @inline(__always)
  var kind: Kind {
    get {
      // Only the tape makes records, and only from a kind.
      Kind(rawValue: bits >> 29) ?? .space
    }
    set { bits = newValue.rawValue << 29 | bits & 0x1FFF_FFFF }
  }

  @inline(__always)
  var name: Int { Int(bits & 0x1FFF_FFFF) }

  /// The largest page whose offsets fit a record.
  static let maximumOffset = Int(UInt32.max)
}

/// Small facts about the bytes of a page.
enum XMLText {
  /// The white space of XML 1.0, production 3.
  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D
  }

  /// The bytes without white space at either end.
  static func trimmed(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var start = 0
    var end = bytes.count
    while start < end, isSpace(bytes[start]) { start += 1 }
    while end > start, isSpace(bytes[end - 1]) { end -= 1 }
    return UnsafeBufferPointer(rebasing: bytes[start..<end])
  }
}
