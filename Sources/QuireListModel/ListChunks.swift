/// The index of a list's chunks, by ordinal and by item. Not generic, so that changing one of
/// thousands of chunks costs little for items of any type.
///
/// Chunks are grouped by ordinal, up to 32 to a group (ordinals that differ only in the last five
/// bits). Copies share groups: a change rebuilds one group, and adding or removing chunks at an end
/// leaves all other groups unchanged.
struct ListChunks: Sendable {
  /// A chunk and its number of items.
  struct Chunk: Sendable {
    let object: any AnyObject & Sendable
    let count: Int
  }

  final class Group: Sendable {
    let chunks: [Chunk]
    /// The number of each chunk's first item, counted from the start of the group; and the end of
    /// the last chunk.
    let starts: [Int]

    init(_ chunks: [Chunk]) {
      self.chunks = chunks
      starts = ListChunks.starts(of: chunks, \.count)
    }

    var count: Int { starts[chunks.count] }
  }

  private(set) var ordinals = 0..<0
  private(set) var groups: [Group] = []
  /// The number of each group's first item, and the end of the last group.
  private var starts = [0]

  /// The number of items.
  var count: Int { starts[groups.count] }

  private static func starts<Part>(of parts: [Part], _ count: (Part) -> Int) -> [Int] {
    var starts = [Int](repeating: 0, count: parts.count + 1)
    for (index, part) in parts.enumerated() { starts[index + 1] = starts[index] + count(part) }
    return starts
  }

  // MARK: Finding

  /// Returns the group of a chunk, and the chunk's index in the group.
  private func place(of ordinal: Int) -> (group: Int, offset: Int) {
    (
      (ordinal >> 5) - (ordinals.lowerBound >> 5),
      ordinal - max((ordinal >> 5) << 5, ordinals.lowerBound)
    )
  }

  subscript(ordinal: Int) -> Chunk {
    let (group, offset) = place(of: ordinal)
    return groups[group].chunks[offset]
  }

  /// Returns the index of a chunk's first item.
  func start(of ordinal: Int) -> Int {
    let (group, offset) = place(of: ordinal)
    return starts[group] + groups[group].starts[offset]
  }

  /// Returns the ordinal of the chunk that holds an item, and the item's index in it. O(log
  /// chunks).
  func find(_ item: Int) -> (ordinal: Int, offset: Int) {
    let group = Self.last(in: starts, upTo: item)
    let rest = item - starts[group]
    let offset = Self.last(in: groups[group].starts, upTo: rest)
    let first = max(ordinals.lowerBound, ((ordinals.lowerBound >> 5) + group) << 5)
    return (first + offset, rest - groups[group].starts[offset])
  }

  /// Returns the index of the last part that starts at `item` or before it.
  static func last(in starts: [Int], upTo item: Int) -> Int {
    var (low, high) = (0, starts.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if starts[middle] <= item { low = middle } else { high = middle - 1 }
    }
    return low
  }

  // MARK: Changing

  /// Replaces the chunk with this ordinal, or adds one at an end.
  mutating func put(_ chunk: Chunk, at ordinal: Int) {
    if ordinals.isEmpty { ordinals = ordinal..<ordinal }
    precondition(
      ordinals.lowerBound - 1...ordinals.upperBound ~= ordinal,
      "There is no place for a chunk \(ordinal) beside \(ordinals).")
    let isInFront = ordinal < ordinals.lowerBound
    let group = (ordinal >> 5) - (ordinals.lowerBound >> 5)
    if groups.indices.contains(group) {
      var chunks = groups[group].chunks
      let offset = isInFront ? 0 : place(of: ordinal).offset
      let replaced = isInFront || offset == chunks.count ? 0 : 1
      chunks.replaceSubrange(offset..<offset + replaced, with: CollectionOfOne(chunk))
      groups[group] = Group(chunks)
    } else {
      groups.insert(Group([chunk]), at: max(0, group))
    }
    ordinals = min(ordinal, ordinals.lowerBound)..<max(ordinal + 1, ordinals.upperBound)
    starts = Self.starts(of: groups, \.count)
  }

  mutating func removeFirst() {
    let rest = groups[0].chunks.dropFirst()
    if rest.isEmpty { groups.removeFirst() } else { groups[0] = Group(Array(rest)) }
    ordinals.removeFirst()
    starts = Self.starts(of: groups, \.count)
  }

  mutating func removeLast() {
    let rest = groups[groups.count - 1].chunks.dropLast()
    if rest.isEmpty { groups.removeLast() } else { groups[groups.count - 1] = Group(Array(rest)) }
    ordinals.removeLast()
    starts = Self.starts(of: groups, \.count)
  }

  // MARK: Comparing

  /// A chunk that only one of two lists has: its first item, and how many shared chunks precede it.
  struct Part {
    let object: AnyObject
    var start: Int
    var segment: Int
  }

  /// Returns the chunks that two lists do not share. O(groups), and O(chunks) for the groups that
  /// differ.
  static func differing(_ old: ListChunks, _ new: ListChunks) -> (old: [Part], new: [Part]) {
    let groups = differing(old.groups, new.groups) { $0 }
    let (left, right) = (old.parts(of: groups.old), new.parts(of: groups.new))
    let parts = differing(left, right, \.object)
    let (before, after) = (left[parts.old], right[parts.new])
    let shared = shared(before, after)
    return (apart(before, shared), apart(after, shared))
  }

  /// Returns the ranges that remain without common elements at the start and at the end.
  private static func differing<Element>(
    _ old: [Element], _ new: [Element], _ object: (Element) -> AnyObject
  ) -> (old: Range<Int>, new: Range<Int>) {
    var (start, oldEnd, newEnd) = (0, old.count, new.count)
    while start < oldEnd, start < newEnd, object(old[start]) === object(new[start]) { start += 1 }
    while start < oldEnd, start < newEnd, object(old[oldEnd - 1]) === object(new[newEnd - 1]) {
      oldEnd -= 1
      newEnd -= 1
    }
    return (start..<oldEnd, start..<newEnd)
  }

  private func parts(of range: Range<Int>) -> [Part] {
    range.flatMap { group in
      zip(groups[group].chunks, groups[group].starts).map { chunk, start in
        Part(object: chunk.object, start: starts[group] + start, segment: 0)
      }
    }
  }

  /// Returns the chunks that both sides have in the same order.
  private static func shared(
    _ old: ArraySlice<Part>, _ new: ArraySlice<Part>
  ) -> Set<ObjectIdentifier> {
    guard !old.isEmpty, !new.isEmpty else { return [] }
    let places = Dictionary(
      zip(old.map { ObjectIdentifier($0.object) }, old.indices), uniquingKeysWith: { one, _ in one }
    )
    var shared: Set<ObjectIdentifier> = []
    var last = -1
    for part in new {
      guard let place = places[ObjectIdentifier(part.object)], place > last else { continue }
      last = place
      shared.insert(ObjectIdentifier(part.object))
    }
    return shared
  }

  /// Returns the chunks that are not shared.
  private static func apart(
    _ parts: ArraySlice<Part>, _ shared: Set<ObjectIdentifier>
  ) -> [Part] {
    var segment = 0
    return parts.compactMap { part in
      if shared.contains(ObjectIdentifier(part.object)) {
        segment += 1
        return nil
      }
      return Part(object: part.object, start: part.start, segment: segment)
    }
  }
}
