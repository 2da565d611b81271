extension Cursor {
  /// Returns the items of all `sources` as one listing, ordered by `key`.
  ///
  /// ```swift
  /// let news = Cursor.merged(
  ///   feeds, by: \.published, options: MergeOptions(order: .descending), duplicates: { $0.id })
  /// for try await entry in news.items { … }
  /// ```
  /// Each source has to be ordered by the key itself; items of equal keys come in the order of the
  /// sources. The merge streams: it holds at most one page of each source, and reads a source only
  /// when the order cannot be determined without it.
  ///
  /// A source that does not answer within `MergeOptions.skew` no longer holds up the others. Its
  /// items come as soon as they are there, out of order where others went ahead, and the report
  /// warns by `WalkReport.Warning.Code.laggingSource`. A source that fails is set aside; once all
  /// others have ended, `next()` throws `PageError.Code.sourcesFailed`, and asking again continues
  /// with the sources that failed.
  ///
  /// A position holds the place in every source and digests of the newest `duplicates` values, so a
  /// walk resumes at exactly the next item, over the same sources in the same order. Its size grows
  /// with the number of sources. Options that cannot work are `invalidArgument`, thrown by the
  /// first `next()`.
  ///
  /// - Parameters:
  ///   - sources: The listings, each with limits and transforms of its own.
  ///   - key: Returns the value by which items are ordered.
  ///   - options: Direction, page size, concurrency, bounds.
  ///   - duplicates: Returns a value that two copies of an item share, such as its id. The first
  ///     copy is delivered, and the report counts the others. A source can hide the items of
  ///     another by using their ids. Default: items are not compared.
  ///   - clock: Measures the skew and the report's times.
  public static func merged<Key: Comparable & Sendable>(
    _ sources: [Cursor<Item>], by key: @escaping @Sendable (Item) -> Key,
    options: MergeOptions = MergeOptions(), duplicates: (@Sendable (Item) -> String)? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) -> Cursor<Item> {
    merging(sources, by: key, options, duplicates, clock)
  }

  /// Returns the items of all `sources` as one listing, first come, first served: a page is
  /// delivered as soon as any source has answered.
  ///
  /// Everything else is as with `merged(_:by:options:duplicates:clock:)`.
  public static func merged(
    _ sources: [Cursor<Item>], options: MergeOptions = MergeOptions(),
    duplicates: (@Sendable (Item) -> String)? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) -> Cursor<Item> {
    let key: (@Sendable (Item) -> Never)? = nil
    return merging(sources, by: key, options, duplicates, clock)
  }

  private static func merging<Key: Comparable & Sendable>(
    _ sources: [Cursor<Item>], by key: (@Sendable (Item) -> Key)?, _ options: MergeOptions,
    _ duplicates: (@Sendable (Item) -> String)?, _ clock: any Clock<Duration>
  ) -> Cursor<Item> {
    let probes = sources.map(\.probe)
    let identity = ListingIdentity.merging(probes.map(\.identity))
    let needsClosing = probes.contains(where: \.needsClosing)
    return Cursor(clock: clock) { context in
      MergingReader(
        sources, MergeRules(options: options, key: key, duplicates: duplicates),
        clock: context.clock, identity: identity, needsClosing: needsClosing)
    }
  }
}

/// How sources are merged.
public struct MergeOptions: Hashable, Sendable {
  /// An order of keys.
  public enum Order: String, Hashable, Sendable {
    /// The smallest key first, such as the oldest date.
    case ascending
    /// The greatest key first, such as the newest date.
    case descending
  }

  /// Which keys come first; without meaning if there is no key. Default ascending.
  public var order: Order
  /// The most items of a page. A page may have fewer: it is delivered when the next item cannot be
  /// determined without reading a source. Default 100.
  public var pageSize: Int
  /// The number of sources that are read at the same time; as many again may be lagging. Default
  /// 64, because sources are mostly different hosts; the transport limits the requests to each.
  public var concurrentLoads: Int
  /// How long the answer of one source may hold up the others, from when it is requested; nil for
  /// as long as it takes. Default 10 seconds, longer than a working server takes.
  public var skew: Duration?
  /// The least number of delivered items that are remembered to find duplicates. Default 1,000.
  /// Positions hold 16 bytes for each.
  public var duplicateWindow: Int

  /// Creates options, by default ascending and with the members' defaults.
  public init(
    order: Order = .ascending, pageSize: Int = 100, concurrentLoads: Int = 64,
    skew: Duration? = .seconds(10), duplicateWindow: Int = 1_000
  ) {
    self.order = order
    self.pageSize = pageSize
    self.concurrentLoads = concurrentLoads
    self.skew = skew
    self.duplicateWindow = duplicateWindow
  }

  /// The reason why the options cannot work; nil if they can.
  var objection: PageError? {
    let flaw: String
    if pageSize < 1 {
      flaw = "a pageSize of \(pageSize) cannot work; give 1 or more"
    } else if concurrentLoads < 1 {
      flaw = "concurrentLoads of \(concurrentLoads) cannot work; give 1 or more"
    } else if let skew, skew <= .zero {
      flaw = "a skew of \(skew) cannot work; give a time, or nil to wait for every source"
    } else if duplicateWindow < 0 {
      flaw = "a duplicateWindow of \(duplicateWindow) cannot work; give 0 or more"
    } else {
      return nil
    }
    return PageError(.invalidArgument, "merged(_:by:): \(flaw).", attempts: 0)
  }
}

extension PageError {
  /// The failed sources of a merge, as the `underlying` error of `sourcesFailed`.
  public struct SourceFailures: Error {
    /// The errors by the index of their source.
    public let errors: [Int: any Error]
  }
}

extension PageError.Code {
  /// Some of the sources of a merge failed, and everything else was delivered; `underlying` is a
  /// `PageError.SourceFailures`. Asking again, or resuming from the checkpoint, continues with
  /// those sources.
  public static let sourcesFailed = Self("sourcesFailed")
}

extension WalkReport.Warning.Code {
  /// A source of a merge did not answer in time, and the others went on without it.
  public static let laggingSource = Self("laggingSource")
  /// A source of a merge failed; see `PageError.Code.sourcesFailed`.
  public static let failedSource = Self("failedSource")
  /// A source of a merge is not ordered by the key, so the merge is not either.
  public static let unorderedSource = Self("unorderedSource")
}

extension Remedy.Setting {
  /// How long one source may hold up the others.
  public static let skew = Self("MergeOptions.skew")
}

/// The options and closures by which sources are merged.
struct MergeRules<Item: Sendable, Key: Comparable & Sendable>: Sendable {
  var options: MergeOptions
  /// The key of an item; nil where pages are delivered as they come.
  var key: (@Sendable (Item) -> Key)?
  var duplicates: (@Sendable (Item) -> String)?

  /// Whether an item with the key `left` comes before one with the key `right`.
  func precedes(_ left: Key, _ right: Key) -> Bool {
    options.order == .ascending ? left < right : right < left
  }
}

extension ListingIdentity {
  static func merging(_ identities: [ListingIdentity?]) -> ListingIdentity? {
    let known = identities.compactMap(\.self)
    guard !known.isEmpty else { return nil }
    let closes = known.contains(where: \.closesWithWalk)
    return ListingIdentity(closesWithWalk: closes, countsPages: { _ in true }) {
      var digest = MergeDigest()
      for identity in identities {
        for part in identity?.parts ?? [] {
          digest.add(part.name)
          digest.add(part.value)
        }
        digest.add("")
      }
      return [
        Part("sources", digest.text, "the sources that are merged, their order or their requests")
      ]
    }
  }
}
