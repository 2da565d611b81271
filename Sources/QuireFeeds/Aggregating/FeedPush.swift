public import HTTPTypes
import QuireHTTP
import QuirePagination

/// A subscription at a hub, which notifies of new entries (WebSub, W3C Recommendation of 2018;
/// section numbers in comments refer to it).
///
/// The content that a hub delivers is not read: a delivery makes the feed due, and the publisher is
/// polled. So no request to the callback can insert an entry, and no secret has to be shared with
/// the hub.
public struct FeedPush: Hashable, Sendable, Codable {
  /// The state of the subscription.
  public enum State: String, Hashable, Sendable, Codable {
    /// The subscription was requested, but the hub has not verified it yet.
    case requested
    /// The hub has verified the subscription, and notifies until the lease ends.
    case active
    /// The hub denied the subscription. It is requested again after a day.
    case denied
  }

  /// The hub's address.
  public let hub: String
  /// The topic: the feed's own address, as the feed declares it.
  public let topic: String
  /// The last component of the callback's path, a random text that cannot be guessed.
  public let token: String
  /// The state of the subscription.
  public private(set) var state: State
  /// The time of the request, in seconds since 1970.
  public private(set) var requested: Double
  /// The end of the lease, in seconds since 1970.
  public private(set) var leaseEnd: Double
  /// The time of the last notification, in seconds since 1970; nil before the first.
  public private(set) var lastPush: Double?

  package init(
    hub: String, topic: String, token: String, state: State, requested: Double, leaseEnd: Double,
    lastPush: Double?
  ) {
    self.hub = hub
    self.topic = topic
    self.token = token
    self.state = state
    self.requested = requested
    self.leaseEnd = leaseEnd
    self.lastPush = lastPush
  }

  /// The requested lease: ten days, which hubs may shorten.
  static let lease = 864_000.0
  /// The longest lease that is accepted.
  private static let longestLease = 4 * lease
  private static let day = 86_400.0

  /// Whether polls may be rare, because the hub notifies.
  func isActive(at now: Double) -> Bool { state == .active && now < leaseEnd }

  /// Returns the subscription to request now; nil if the feed has no hub, or if the known
  /// subscription need not be requested again yet.
  static func due(
    by feed: Feed, at url: String, known: FeedPush?, now: Double, token: String
  ) -> FeedPush? {
    guard let hub = feed.hubs.first(where: { $0.kind.lowercased() == "websub" }),
      hub.url.hasPrefix("https://") || hub.url.hasPrefix("http://")
    else { return nil }
    let topic = feed.feedURL ?? url
    let push = FeedPush(
      hub: hub.url, topic: topic, token: token, state: .requested, requested: now, leaseEnd: now,
      lastPush: nil)
    guard let known, known.hub == hub.url, known.topic == topic, !known.isAhead(of: now) else {
      return push
    }
    switch known.state {
    case .requested, .denied: return now - known.requested < day ? nil : push
    case .active: return known.leaseEnd - now > day ? nil : known.requestedAgain(at: now)
    }
  }

  /// Whether a clock that was far ahead wrote these times, so that the hub would not be asked again
  /// for a long time.
  private func isAhead(of now: Double) -> Bool {
    max(requested, lastPush ?? requested, leaseEnd - Self.longestLease) > now + Self.day
  }

  private func requestedAgain(at now: Double) -> FeedPush? {
    guard now - requested > 3_600 else { return nil }
    var push = self
    push.requested = now
    // The current lease stays valid until the hub verifies the new one.
    if now >= leaseEnd { push.state = .requested }
    return push
  }

  /// Returns the subscription request to the hub (§5.1).
  func request(callback: String) -> PageRequest {
    // The token must be a separate component of the path.
    let callback = callback.hasSuffix("/") ? callback : callback + "/"
    return PageRequest(
      method: .post, url: hub,
      body: .form([
        "hub.mode": "subscribe", "hub.topic": topic, "hub.callback": callback + token,
        "hub.lease_seconds": "\(Int(Self.lease))",
      ]))
  }

  /// Records the hub's verification (§5.3). Returns false if the topic was not requested within the
  /// last day: the hub must be refused then.
  mutating func verified(topic: String?, lease: Double?, at now: Double) -> Bool {
    guard topic == self.topic, now - requested < Self.day || state == .active else { return false }
    state = .active
    // `Double` parses "nan", which is not a duration.
    let granted = lease.flatMap { $0.isNaN ? nil : $0 } ?? Self.lease
    leaseEnd = now + min(max(granted, 60), Self.longestLease)
    return true
  }

  /// Records the hub's denial (§5.2).
  mutating func denied(topic: String?) {
    if topic == self.topic { state = .denied }
  }

  /// Returns this subscription merged with `known`, the stored one, which another machine may have
  /// updated.
  func merged(with known: FeedPush) -> FeedPush {
    guard known.token == token else { return self }
    var push = self
    // The stored lease ends after this request, so the hub has already verified it. The lapsed
    // lease that a request renews ends before.
    if state == .requested, known.state == .active, known.leaseEnd > requested {
      (push.state, push.leaseEnd) = (.active, max(leaseEnd, known.leaseEnd))
    }
    push.lastPush = [lastPush, known.lastPush].compactMap(\.self).max()
    return push
  }

  /// Records a hub's notification (§7).
  package mutating func delivered(at now: Double) { lastPush = now }
}

/// The answer to a hub's request.
public struct HubAnswer: Hashable, Sendable {
  /// The status and the header fields.
  public let head: HTTPResponse
  /// The body: the hub's challenge for a verification, otherwise empty.
  public let body: [UInt8]

  init(_ status: HTTPResponse.Status, text: String = "") {
    // The challenge is untrusted, and must not be shown as a web page.
    head = HTTPResponse(status: status, headerFields: [.contentType: "text/plain; charset=utf-8"])
    body = Array(text.utf8)
  }
}
