/// Pages that are larger than memory: items leave the tape once they are whole.
extension XMLTape {
  /// What a tape goes on with.
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

  /// A tape that goes on where this one stands, without `items`, which are whole, but for the last
  /// of them, and without the item `keptItem` of the last time.
  ///
  /// What is outside of items is kept, with values of its own, so that the source can go; of the item
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
