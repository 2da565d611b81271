import Foundation
import QuireCore
import QuireHTTP
import QuirePagination
import Synchronization

/// The source of a listing that is read in parts.
///
/// A position is `{"parts": [[from, to], …], "rest": from, "end": to, "at": …, "seen": …}`: `parts`
/// are the part being read and the halves after it, `rest` and `end` bound the parts not begun,
/// `at` is the position in the first part, and `seen` has digests of its items. `"received"` and
/// `"declared"` are the tally of the first part. The position holds all the state that a page
/// depends on; the open walk only saves requests, and each outer walk has its own source.
final class SplitSource: PageSource {
  /// The decoded form of a position: the part being read, and all that follows.
  struct Place: Sendable {
    /// The part being read, and halves to read before `rest`; empty at the end.
    var parts: [Range<Int64>]
    var rest: Range<Int64>
    /// The position in the first part; nil at its start.
    var inner: Position?
    /// The tally of the first part before `inner`.
    var tally = ItemTally()
    var seen: SplitDigests
  }

  private let split: Split
  private let makeCursor: @Sendable (Partition) throws -> Cursor<RawItem>
  /// The walk through the first part.
  private let open = OpenWalk<Range<Int64>>()

  init(_ split: Split, _ cursor: @escaping @Sendable (Partition) throws -> Cursor<RawItem>) {
    self.split = split
    makeCursor = cursor
  }

  /// The walk through a part is open between pages.
  var needsClosing: Bool { true }

  func close(at position: Position?) async { await open.close() }

  func page(at position: Position?) async throws -> Page<RawItem>? {
    var traffic = WalkReport.Traffic.zero
    do {
      return try await page(at: position, &traffic)
    } catch let failure as PageError {
      var error = failure
      error.traffic += traffic
      error.traffic.items = 0
      throw error
    }
  }

  /// Returns the page at a position, or an absent one after the last part. Adds the traffic of all
  /// requests to `traffic`.
  private func page(
    at position: Position?, _ traffic: inout WalkReport.Traffic
  ) async throws -> Page<RawItem> {
    var place = try place(at: position)
    var missing = 0
    while missing == 0, let part = place.parts.first {
      let answer: Page<RawItem>?
      do {
        answer = try await open.page(of: part, at: place.inner) {
          try cursor(of: part, at: place.inner)
        }
      } catch let error as PageError where error.code == .resultWindowExceeded {
        await open.close()
        try place.halve(else: error)
        traffic += error.traffic
        continue
      }
      traffic += answer?.traffic ?? .zero
      guard let found = answer, !found.head.isAbsent else {
        if answer != nil, let failure = place.reachedCap(of: split) {
          await open.close()
          try place.halve(else: failure)
          continue
        }
        // If the caller's limit ended the part, items that were not read are not missing.
        missing = answer == nil ? 0 : place.tally.missing ?? 0
        await open.close()
        place.finishPart(split)
        continue
      }
      if place.inner == nil, part.count > 1, try found.isMore(than: split) {
        await open.close()
        try place.halve(else: PageError(.resultWindowExceeded, "A part has too many results."))
        continue
      }
      var page = try await advance(&place, by: found)
      // A page of repeated items only is skipped, unless it reports missing items.
      let isRepetition = page.items.isEmpty && !found.items.isEmpty && page.next != nil
      guard isRepetition, page.metadata[MissingItems.self] == nil else {
        page.traffic = traffic
        return page
      }
    }
    var page = missing > 0 ? Page<RawItem>([]) : .absent(after: traffic)
    page.traffic = traffic
    page.next = place.position
    if missing > 0 { page.metadata[MissingItems.self] = MissingItems(missing) }
    return page
  }

  /// Returns the page of a part as a page of the whole, without items that came before the part was
  /// halved. If the part ends with fewer items than declared, the page reports the missing ones.
  private func advance(
    _ place: inout Place, by found: Page<RawItem>
  ) async throws -> Page<RawItem> {
    var page = Page<RawItem>(try place.seen.take(found.items, by: split.key))
    page.metadata = found.metadata
    // A total that was found by `split.total` takes precedence over the listing's totals on later
    // pages.
    let isTold = split.total != nil && place.tally.declared != nil
    place.tally.add(found, declaring: try found.declared(by: split) ?? (isTold ? nil : found.total))
    page.warnings = found.warnings
    page.nextFailure = found.nextFailure
    let isLast = found.nextFailure == nil && found.next == nil
    let refusal = isLast ? place.reachedCap(of: split) : found.nextFailure
    if let failure = refusal, failure.code == .resultWindowExceeded {
      // The halves give the rest of the items. If there are none, the page is delivered before the
      // error.
      do throws(PageError) {
        try place.halve(else: failure)
        page.nextFailure = nil
        await open.close()
      } catch {
        page.nextFailure = error
      }
    } else if found.nextFailure == nil, let inner = found.next {
      place.inner = inner
    } else if found.nextFailure == nil {
      if let missing = place.tally.missing {
        page.metadata[MissingItems.self] = MissingItems(missing)
      }
      await open.close()
      place.finishPart(split)
    }
    // A page without new items is not delivered before the error.
    if page.items.isEmpty, !found.items.isEmpty, let failure = page.nextFailure { throw failure }
    page.next = page.nextFailure == nil ? place.position : nil
    return page
  }

  private func cursor(of part: Range<Int64>, at inner: Position?) throws -> Cursor<RawItem> {
    do {
      let cursor = try makeCursor(Partition(part, isTime: split.isTime))
      return inner.map { cursor.resuming(from: $0) } ?? cursor
    } catch let error where !(error is CancellationError || error is PageError) {
      throw PageError(
        .transformFailed, "The closure given to partitioned failed: \(error)", underlying: error)
    }
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
  /// Moves from the end of the first part to the next part.
  mutating func finishPart(_ split: Split) {
    if !parts.isEmpty { parts.removeFirst() }
    (inner, tally) = (nil, ItemTally())
    if parts.isEmpty, !rest.isEmpty {
      let end = split.end(of: rest)
      parts = [rest.lowerBound..<end]
      rest = end..<rest.upperBound
    }
    seen.begin(at: parts.first?.lowerBound ?? rest.upperBound)
  }

  /// Returns an error if the first part may be incomplete at its end: it gave as many items as the
  /// cap, and no total confirms that these are all. A total equal to the cap may be limited by the
  /// server, too.
  func reachedCap(of split: Split) -> PageError? {
    guard let cap = split.cap, let received = tally.received, received >= cap,
      let part = parts.first,
      tally.declared == nil || tally.declared == cap && part.count > 1
    else { return nil }
    return PageError(
      .resultWindowExceeded,
      "A part gave \(received.counted("item")), as many as the server gives at most by cap, and nothing says "
        + "that these are all. Say by total where the server tells how many there are.")
  }

  /// Replaces the first part by two halves. Throws `error` if it cannot be halved, or
  /// `resultWindowExceeded` if too many of its items came to recognize them again.
  mutating func halve(else error: PageError) throws(PageError) {
    guard let part = parts.first, part.count > 1 else { throw error }
    guard seen.isComplete else {
      throw PageError(
        .resultWindowExceeded,
        "A part gave more than \(SplitDigests.capacity) items before the server refused more, and what came of it "
          + "is not known any more. Make parts smaller, or say by cap how many the server gives.",
        underlying: error)
    }
    let middle = part.lowerBound + Int64(part.count) / 2
    seen.halve(upTo: part.upperBound)
    parts.replaceSubrange(0..<1, with: [part.lowerBound..<middle, middle..<part.upperBound])
    (inner, tally) = (nil, ItemTally())
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
    inner = value["at"].map(Position.init(json:))
    tally = inner == nil ? ItemTally() : ItemTally(value)
    seen = SplitDigests(value["seen"])
  }

  /// The position of the place; nil at the end of the listing.
  var position: Position? {
    guard let first = parts.first else { return nil }
    var members: [JSONValue.Member] = [
      .init(
        "parts",
        .array(parts.map { [.number("\($0.lowerBound)"), .number("\($0.upperBound)")] })),
      .init("rest", .number("\(rest.lowerBound)")), .init("end", .number("\(rest.upperBound)")),
    ]
    if let inner {
      members.append(.init("at", inner.json))
      members += tally.members
    }
    if let seen = seen.value(isWithinPart: inner != nil || first.lowerBound < seen.end ?? .min) {
      members.append(.init("seen", seen))
    }
    return Position(.object(members))
  }
}

/// Digests of the items of a part, by which its halves recognize items that came before.
struct SplitDigests: Sendable {
  /// The maximum number of digests: servers that limit results give 1,000 to 10,000. Each commit
  /// stores them, at eleven bytes each.
  static let capacity = 10_000

  /// The items that come again in the rest of a halved part, and how often. With a key, which is
  /// unique, all items so far, with the count 1.
  private var before: [UInt64: Int] = [:]
  /// The items of the first part, which come again if it is halved; empty with a key.
  private var part: [UInt64: Int] = [:]
  /// The number of items in both.
  private var count = 0
  /// Whether the digests of all items are known.
  private(set) var isComplete = true
  /// The greatest upper bound of the halved parts: no item at or after it was repeated.
  private(set) var end: Int64?

  init() {}

  /// Returns the items that did not come before. Without a key, items may be equal, and each
  /// earlier item excludes one.
  mutating func take(_ items: [RawItem], by key: PagePath?) throws -> [RawItem] {
    var new: [RawItem] = []
    for item in items {
      let bytes =
        try key.map { Array("\(try item.valueOrText(at: $0) ?? .null)".utf8) } ?? item.compact
      let digest = FNV1a(bytes).value
      let known = before[digest]
      if end == nil || known == nil { new.append(item) }
      if key == nil, end != nil, let known {
        before[digest] = known > 1 ? known - 1 : nil
        count -= 1
      }
      guard key == nil || known == nil else { continue }
      guard count < Self.capacity else {
        isComplete = false
        continue
      }
      count += 1
      if key == nil { part[digest, default: 0] += 1 } else { before[digest] = 1 }
    }
    return new
  }

  /// Notes that the first part is halved, so that all its items come again.
  mutating func halve(upTo upper: Int64) {
    before.merge(part) { $0 + $1 }
    part = [:]
    end = max(end ?? upper, upper)
  }

  /// Begins a part. Within a part that was halved, earlier items are still needed.
  mutating func begin(at lower: Int64) {
    guard let end, lower < end else {
      self = SplitDigests()
      return
    }
    count -= part.values.reduce(0, +)
    part = [:]
  }

  // MARK: Stored form

  init(_ value: JSONValue?) {
    guard let value else { return }
    end = value["end"]?.integer.map(Int64.init)
    isComplete = value["whole"]?.boolean ?? true
    before = Self.digests(value["digests"])
    part = Self.digests(value["part"])
    count = before.values.reduce(0, +) + part.values.reduce(0, +)
  }

  /// Returns the stored form; nil if there is nothing to store.
  func value(isWithinPart: Bool) -> JSONValue? {
    guard isWithinPart, count > 0 else { return nil }
    var members: [JSONValue.Member] = []
    if !before.isEmpty { members.append(.init("digests", Self.text(before))) }
    if !part.isEmpty { members.append(.init("part", Self.text(part))) }
    if let end { members.append(.init("end", .number("\(end)"))) }
    if !isComplete { members.append(.init("whole", false)) }
    return .object(members)
  }

  private static func digests(_ stored: JSONValue?) -> [UInt64: Int] {
    var digests: [UInt64: Int] = [:]
    let bytes = Array(Data(base64Encoded: stored?.string ?? "") ?? Data())
    for start in stride(from: 0, to: bytes.count - 7, by: 8) {
      digests[bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }, default: 0] += 1
    }
    return digests
  }

  /// Encodes each digest as often as it counts.
  private static func text(_ digests: [UInt64: Int]) -> JSONValue {
    var bytes = Data()
    for (digest, count) in digests.sorted(by: { $0.key < $1.key }) {
      for _ in 0..<count {
        for shift in stride(from: 56, through: 0, by: -8) {
          bytes.append(UInt8(truncatingIfNeeded: digest >> UInt64(shift)))
        }
      }
    }
    return .string(bytes.base64EncodedString())
  }
}

extension Page {
  /// Returns the total of the part at the path of the split; nil if the split has none.
  fileprivate func declared(by split: Split) throws -> Total? {
    try split.total.flatMap { try field($0)?.integer }.map { Total($0) }
  }

  /// Returns whether the server declares more items than it gives for one request.
  fileprivate func isMore(than split: Split) throws -> Bool {
    guard let cap = split.cap else { return false }
    if let declared = try declared(by: split) { return declared.value > cap }
    switch total?.kind {
    case .items, .estimate: return total.map { $0.value > cap } ?? false
    case .lowerBound: return total.map { $0.value >= cap } ?? false
    case .remaining: return total.map { $0.value.plus(items.count) > cap } ?? false
    case .pages, nil: return false
    }
  }
}
