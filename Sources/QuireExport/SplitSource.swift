import Foundation
import QuireCore
import QuireHTTP
import QuirePagination
import Synchronization

/// The pages of a listing that is read in parts.
///
/// A position is `{"parts": [[from, to], …], "rest": from, "end": to, "at": …, "seen": …}`: parts that were
/// halved, where the others begin and end, the place in the first part, and digests of what it has given.
final class SplitSource: PageSource {
  /// What is left, from the part at hand on.
  struct Place: Sendable {
    /// Halves that are to be read before the rest.
    var parts: [Range<Int64>]
    var rest: Range<Int64>
    /// Where the first part goes on; nil at its start.
    var inner: Position?
    var seen: SplitDigests
  }

  /// A walk through one part, and the position of its next page.
  private struct Open: Sendable {
    var walk: Walk<RawItem>
    var next: Position?
  }

  private let split: Split
  private let makeCursor: @Sendable (Partition) throws -> Cursor<RawItem>
  private let open = Mutex<Open?>(nil)

  init(_ split: Split, _ cursor: @escaping @Sendable (Partition) throws -> Cursor<RawItem>) {
    self.split = split
    makeCursor = cursor
  }

  /// A walk is left open between pages.
  var needsClosing: Bool { true }

  func close(at position: Position?) async {
    await open.withLock { open in
      defer { open = nil }
      return open
    }?.walk.close()
  }

  func page(at position: Position?) async throws -> Page<RawItem>? {
    var (place, position) = (try place(at: position), position)
    var traffic = WalkReport.Traffic(requests: 0)
    while let part = place.parts.first {
      let walk = try walk(through: part, place, at: position)
      var found: Page<RawItem>?
      do {
        var iterator = walk.makeAsyncIterator()
        found = try await iterator.next(isolation: nil)
      } catch let error as PageError where error.code == .resultWindowExceeded {
        await close(at: nil)
        try place.halve(else: error)
        continue
      }
      guard let found else {
        await close(at: nil)
        place.finishPart(split)
        continue
      }
      if place.inner == nil, part.count > 1, try found.isMore(than: split) {
        await close(at: nil)
        traffic = traffic + found.traffic
        try place.halve(else: PageError(.resultWindowExceeded, "A part has too many results."))
        continue
      }
      var page = try await advance(&place, by: found)
      page.traffic = traffic + found.traffic
      // What only repeats what came before is no page.
      guard page.items.isEmpty, !found.items.isEmpty, let next = page.next else { return page }
      (traffic, position) = (page.traffic, next)
    }
    return nil
  }

  /// The page of a part as one of the whole, without what came before the part was halved.
  private func advance(
    _ place: inout Place, by found: Page<RawItem>
  ) async throws -> Page<RawItem> {
    var page = Page<RawItem>(try place.seen.take(found.items, by: split.key))
    page.metadata = found.metadata
    page.warnings = found.warnings
    page.nextFailure = found.nextFailure
    if let failure = found.nextFailure, failure.code == .resultWindowExceeded {
      // What follows is read in halves.
      page.nextFailure = nil
      await close(at: nil)
      try place.halve(else: failure)
    } else if let inner = found.next {
      place.inner = inner
    } else if found.nextFailure == nil {
      await close(at: nil)
      place.finishPart(split)
    }
    page.next = page.nextFailure == nil ? place.position : nil
    open.withLock { $0?.next = page.next }
    return page
  }

  private func walk(
    through part: Range<Int64>, _ place: Place, at position: Position?
  ) throws -> Walk<RawItem> {
    if let known = open.withLock({ $0 }), let position, known.next == position { return known.walk }
    var cursor: Cursor<RawItem>
    do {
      cursor = try makeCursor(Partition(part, isTime: split.isTime))
    } catch let error where !(error is CancellationError || error is PageError) {
      throw PageError(
        .transformFailed, "The closure given to partitioned failed: \(error)", underlying: error)
    }
    if let inner = place.inner { cursor = cursor.resuming(from: inner) }
    let walk = cursor.walk()
    open.withLock { $0 = Open(walk: walk, next: position) }
    return walk
  }

  private func place(at position: Position?) throws -> Place {
    guard let value = position?.value else {
      var place = Place(parts: [], rest: split.range, seen: SplitDigests())
      place.finishPart(split)
      return place
    }
    guard let place = Place(value) else {
      throw PageError(
        .positionMismatch,
        "The position is not one of a listing that is read in parts: it was made by another one.",
        attempts: 0)
    }
    return place
  }
}

extension SplitSource.Place {
  /// The first part is at its end: the next one is that behind it.
  mutating func finishPart(_ split: Split) {
    if !parts.isEmpty { parts.removeFirst() }
    inner = nil
    if parts.isEmpty, !rest.isEmpty {
      let end = split.end(of: rest)
      parts = [rest.lowerBound..<end]
      rest = end..<rest.upperBound
    }
    seen.begin(at: parts.first?.lowerBound ?? rest.upperBound)
  }

  /// Puts two halves in the place of the first part; throws `error` where it has no halves, or where it is
  /// not known any more what came of it.
  mutating func halve(else error: PageError) throws {
    guard let part = parts.first, part.count > 1, seen.isWhole else { throw error }
    let middle = part.lowerBound + Int64(part.count) / 2
    seen.end = max(seen.end ?? part.upperBound, part.upperBound)
    parts.replaceSubrange(0..<1, with: [part.lowerBound..<middle, middle..<part.upperBound])
    inner = nil
  }

  init?(_ value: JSONValue) {
    guard case .array(let stored)? = value["parts"], let rest = value["rest"]?.integer,
      let end = value["end"]?.integer, rest <= end
    else { return nil }
    parts = stored.compactMap { part in
      guard case .array(let bounds) = part, bounds.count == 2, let from = bounds[0].integer,
        let to = bounds[1].integer, from < to
      else { return nil }
      return Int64(from)..<Int64(to)
    }
    self.rest = Int64(rest)..<Int64(end)
    inner = value["at"].map { Position($0["value"], itemOffset: $0["itemOffset"]?.integer ?? 0) }
    seen = SplitDigests(value["seen"])
  }

  /// Nil where nothing is left.
  var position: Position? {
    guard let first = parts.first else { return nil }
    var members: [JSONValue.Member] = [
      .init(
        "parts",
        .array(parts.map { [.number("\($0.lowerBound)"), .number("\($0.upperBound)")] })),
      .init("rest", .number("\(rest.lowerBound)")), .init("end", .number("\(rest.upperBound)")),
    ]
    if let inner {
      var at: [JSONValue.Member] = inner.value.map { [.init("value", $0)] } ?? []
      if inner.itemOffset > 0 { at.append(.init("itemOffset", .number("\(inner.itemOffset)"))) }
      members.append(.init("at", .object(at)))
    }
    if let seen = seen.value(isWithinPart: inner != nil || first.lowerBound < seen.end ?? .min) {
      members.append(.init("seen", seen))
    }
    return Position(.object(members))
  }
}

/// Digests of the items that a part has given, by which its halves know them.
struct SplitDigests: Sendable {
  /// More than a server gives that refuses to give more.
  private static let most = 100_000

  private var digests: Set<UInt64> = []
  /// Whether all are known.
  private(set) var isWhole = true
  /// The end of the greatest part that was halved: behind it nothing came twice.
  var end: Int64?

  init() {}

  /// The items that have not come before.
  mutating func take(_ items: [RawItem], by key: PagePath?) throws -> [RawItem] {
    var new: [RawItem] = []
    for item in items {
      let bytes = try key.map { Array("\(try item.value(at: $0) ?? .null)".utf8) } ?? item.compact
      var digest: UInt64 = 0xcbf2_9ce4_8422_2325
      for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
      let isNew = !digests.contains(digest)
      if isNew || end == nil { new.append(item) }
      if digests.count < Self.most { digests.insert(digest) } else { isWhole = false }
    }
    return new
  }

  /// A part begins: within one that was halved, all is still needed.
  mutating func begin(at lower: Int64) {
    if let end, lower < end { return }
    self = SplitDigests()
  }

  // MARK: Stored

  init(_ value: JSONValue?) {
    guard let value else { return }
    end = value["end"]?.integer.map(Int64.init)
    isWhole = value["whole"]?.boolean ?? true
    let bytes = Array(Data(base64Encoded: value["digests"]?.string ?? "") ?? Data())
    for start in stride(from: 0, to: bytes.count - 7, by: 8) {
      digests.insert(bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
    }
  }

  /// Nil where nothing has to be known.
  func value(isWithinPart: Bool) -> JSONValue? {
    guard isWithinPart, !digests.isEmpty else { return nil }
    var bytes = Data(capacity: 8 * digests.count)
    for digest in digests.sorted() {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: digest >> UInt64(shift)))
      }
    }
    var members: [JSONValue.Member] = [.init("digests", .string(bytes.base64EncodedString()))]
    if let end { members.append(.init("end", .number("\(end)"))) }
    if !isWhole { members.append(.init("whole", false)) }
    return .object(members)
  }
}

extension Page {
  /// Whether the server says that there are more items than it gives.
  fileprivate func isMore(than split: Split) throws -> Bool {
    guard let cap = split.cap else { return false }
    if let path = split.total, let count = try field(path)?.integer { return count > cap }
    switch total?.kind {
    case .items, .lowerBound, .estimate: return total.map { $0.value > cap } ?? false
    case .remaining: return total.map { $0.value + items.count > cap } ?? false
    case .pages, nil: return false
    }
  }
}
