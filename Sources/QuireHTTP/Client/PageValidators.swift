import HTTPTypes
public import QuireCore
import QuirePagination
import Synchronization

/// What servers gave to ask by whether a page has changed: `ETag` and `Last-Modified`, byte for byte.
///
/// ```swift
/// let validators = PageValidators()
/// client.configuration.validators = validators
/// for try await page in listing { if page.isUnchanged { continue } … }      // and again an hour later
/// ```
/// Every page that is read whole leaves its validators here, those of a 200 with the same content too; the
/// next request for it sends them back, and the answer 304 makes a page that is unchanged: without items or
/// body, and followed by the page that followed it the last time. As long as validators are held, a page is
/// asked for without them only by the walk that left them; `forget(_:)` and `removeAll()` drop them.
///
/// A page leaves them once it is consumed, as its consumer shows by asking for more: one on which a closure
/// failed, that was loaded ahead, or at which a loop was left comes whole the next time. A `PagedList` has consumed
/// what it holds, an `Export` what it has committed. Pages whose items lead a `flatMap` to other listings, a child's
/// empty ones, those that a source of your own takes from another walk, and those that `Walk.previous()` gives, leave
/// none. Of tasks that share a walk by `Walk.next()`, one that asks shows that of the pages of all.
///
/// Pages are told by their addresses, secrets redacted: use one store for what one set of credentials can see. Of a
/// listing whose cursors are in a field, in a body or in a parameter that is called as secrets are, such as `token`,
/// the first page alone leaves its validators.
/// Only GET requests are conditional. Source: RFC 9110, §8.8 and §13.
public final class PageValidators: Sendable {
  /// What is known of one page.
  public struct Entry: Hashable, Sendable, Codable {
    /// The value of `ETag`, with its quotes and `W/`.
    public var entityTag: String?
    /// The value of `Last-Modified`.
    public var lastModified: String?
    /// Where the page led.
    public var next: Position?
    /// How many items it had.
    public var itemCount: Int
  }

  /// An entry, and the number of the walk that left it; nil for one of a snapshot.
  private struct Held {
    var entry: Entry
    var walk: Int?
  }

  private struct State {
    var entries: [String: Held]
    /// Requests in the order they were stored, to be forgotten.
    var order: [String]
  }

  private let state: Mutex<State>
  private let capacity: Int

  /// A store, empty or of a `snapshot`; of more than `capacity` pages the oldest are forgotten. Default: 100,000.
  public init(_ snapshot: [String: Entry] = [:], capacity: Int = 100_000) {
    let capacity = max(1, capacity)
    self.capacity = capacity
    // A snapshot does not say which are the oldest.
    let order = Array(snapshot.keys.sorted().prefix(capacity))
    let entries = order.compactMap { key in snapshot[key].map { (key, Held(entry: $0)) } }
    state = Mutex(State(entries: Dictionary(uniqueKeysWithValues: entries), order: order))
  }

  /// All that is known, by requests such as `GET https://host/feed`, to be stored; those that leave their first page
  /// alone end in ` #first`.
  public var snapshot: [String: Entry] {
    state.withLock { $0.entries.mapValues(\.entry) }
  }

  /// Forgets what is known of the requests that `isForgotten` chooses.
  public func forget(_ isForgotten: (String) -> Bool) {
    state.withLock { state in
      state.entries = state.entries.filter { !isForgotten($0.key) }
      state.order.removeAll { state.entries[$0] == nil }
    }
  }

  /// Forgets everything: each page is asked for unconditionally once.
  public func removeAll() { forget { _ in true } }

  /// What the current task's walk may ask by; not what it has left itself: a page that it comes to twice, as by
  /// two children of a `flatMap`, has its items twice.
  func entry(for request: String) -> Entry? {
    guard let held = state.withLock({ $0.entries[request] }) else { return nil }
    return held.walk == nil || held.walk != WalkReading.outerWalkNumber ? held.entry : nil
  }

  /// What stores the validators of a page that the current task reads, once it is consumed.
  func receipt(for entry: Entry, of request: String) -> PageReceipt {
    let walk = WalkReading.outerWalkNumber
    return PageReceipt { self.store(entry, for: request, by: walk) }
  }

  /// Takes what an answer with a body gave; an answer without validators leaves none.
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

  /// Takes what a 304 gave: validators that it names replace those that are held (RFC 9110, §15.4.5).
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
  /// The fields that make a request conditional.
  var fields: HTTPFields {
    var fields = HTTPFields()
    if let entityTag { fields[.ifNoneMatch] = entityTag }
    if let lastModified { fields[.ifModifiedSince] = lastModified }
    return fields
  }
}
