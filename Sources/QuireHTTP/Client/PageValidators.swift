import HTTPTypes
public import QuireCore
import QuirePagination
import Synchronization

/// A store of the validators by which servers tell whether a page has changed: `ETag` and
/// `Last-Modified`, byte for byte.
///
/// ```swift
/// let validators = PageValidators()
/// client.configuration.validators = validators
/// for try await page in listing { if page.isUnchanged { continue } … }      // and again an hour later
/// ```
/// Every page that is read completely leaves its validators here, even if a 200 had the same
/// content. The next request for it sends them, and the answer 304 makes an unchanged page: without
/// items or body, and followed by the page that followed it the last time. While validators are
/// stored, only the walk that left them requests the page without them; `forget(_:)` and
/// `removeAll()` drop them.
///
/// A page leaves its validators once it is consumed, which its consumer shows by asking for more.
/// So a page comes complete the next time if a closure failed on it, if it was only loaded ahead,
/// or if a loop was left at it. A `PagedList` has consumed the pages that it holds, an `Export`
/// those that it has committed. Among tasks that share a walk by `Walk.next()`, the next call of
/// any task consumes the pages of all.
///
/// These pages leave no validators: those whose items lead a `flatMap` to other listings, empty
/// pages of its children, pages that a custom source takes from another walk, and pages from
/// `Walk.previous()`.
///
/// Pages are identified by their URLs with secrets redacted, so use a separate store for each set
/// of credentials that sees different data. If the cursors of a listing are in a field, in a body,
/// or in a parameter that is named like a secret, such as `token`, only the first page leaves its
/// validators.
///
/// Only GET requests are conditional. Source: RFC 9110, §8.8 and §13.
public final class PageValidators: Sendable {
  /// The validators of one page, and what a 304 does not repeat.
  public struct Entry: Hashable, Sendable, Codable {
    /// The value of `ETag`, including quotes and `W/`.
    public var entityTag: String?
    /// The value of `Last-Modified`.
    public var lastModified: String?
    /// The position of the page after it.
    public var next: Position?
    /// The number of its items.
    public var itemCount: Int
  }

  /// An entry, and the number of the walk that stored it; nil for an entry of a snapshot.
  private struct Held {
    var entry: Entry
    var walk: Int?
  }

  private struct State {
    var entries: [String: Held]
    /// The keys of the entries, in the order in which they were stored.
    var order: [String]
  }

  private let state: Mutex<State>
  private let capacity: Int

  /// Creates a store from a `snapshot`. Above `capacity` pages, the oldest are dropped. Default:
  /// empty, 100,000 pages.
  public init(_ snapshot: [String: Entry] = [:], capacity: Int = 100_000) {
    let capacity = max(1, capacity)
    self.capacity = capacity
    // The age of a snapshot's entries is unknown.
    let order = Array(snapshot.keys.sorted().prefix(capacity))
    let entries = order.compactMap { key in snapshot[key].map { (key, Held(entry: $0)) } }
    state = Mutex(State(entries: Dictionary(uniqueKeysWithValues: entries), order: order))
  }

  /// All entries, to be stored, by requests such as `GET https://host/feed`. The suffix ` #first`
  /// marks listings of which only the first page has an entry.
  public var snapshot: [String: Entry] {
    state.withLock { $0.entries.mapValues(\.entry) }
  }

  /// Removes the entries of the requests for which `isForgotten` returns true.
  public func forget(_ isForgotten: (String) -> Bool) {
    state.withLock { state in
      state.entries = state.entries.filter { !isForgotten($0.key) }
      state.order.removeAll { state.entries[$0] == nil }
    }
  }

  /// Removes all entries, so that the next request for each page is unconditional.
  public func removeAll() { forget { _ in true } }

  /// Returns the entry for a request of the current task's walk. Entries of the walk itself are
  /// left out: a page that it reads twice, such as by two children of a `flatMap`, has its items
  /// both times.
  func entry(for request: String) -> Entry? {
    guard let held = state.withLock({ $0.entries[request] }) else { return nil }
    return held.walk == nil || held.walk != WalkReading.outerWalkNumber ? held.entry : nil
  }

  /// Returns a receipt that stores the entry of a page, read by the current task, once the page is
  /// consumed.
  func receipt(for entry: Entry, of request: String) -> PageReceipt {
    let walk = WalkReading.outerWalkNumber
    return PageReceipt { self.store(entry, for: request, by: walk) }
  }

  /// Stores an entry. One without validators removes the existing entry.
  private func store(_ entry: Entry, for request: String, by walk: Int?) {
    state.withLock { state in
      guard entry.entityTag != nil || entry.lastModified != nil else {
        if state.entries.removeValue(forKey: request) != nil {
          state.order.removeAll { $0 == request }
        }
        return
      }
      let held = Held(entry: entry, walk: walk)
      if state.entries.updateValue(held, forKey: request) == nil { state.order.append(request) }
      guard state.entries.count > capacity else { return }
      let dropped = state.order.removeFirst()
      state.entries[dropped] = nil
    }
  }

  /// Updates an entry by the fields of a 304, whose validators replace the stored ones (RFC 9110,
  /// §15.4.5).
  func renew(_ fields: HTTPFields, for request: String) {
    state.withLock { state in
      guard var held = state.entries[request] else { return }
      held.entry.entityTag = fields.first(.eTag) ?? held.entry.entityTag
      held.entry.lastModified = fields.first(.lastModified) ?? held.entry.lastModified
      state.entries[request] = held
    }
  }
}

extension PageValidators.Entry {
  /// The header fields of a conditional request.
  var fields: HTTPFields {
    var fields = HTTPFields()
    if let entityTag { fields[.ifNoneMatch] = entityTag }
    if let lastModified { fields[.ifModifiedSince] = lastModified }
    return fields
  }
}
