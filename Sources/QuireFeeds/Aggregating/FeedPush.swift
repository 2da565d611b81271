import HTTPTypes
import QuireHTTP
import QuirePagination

/// A subscription at a hub, which tells of new entries (WebSub, W3C Recommendation of 2018).
///
/// What a hub delivers is not read: it makes the feed due, and the publisher is asked. So nothing that reaches
/// the callback can put an entry into a feed, and no secret has to be shared with the hub.
public struct FeedPush: Hashable, Sendable, Codable {
  /// How far the subscription is.
  public enum State: String, Hashable, Sendable, Codable {
    /// The hub was asked, and has not asked back.
    case requested
    /// The hub has asked back, and tells of new entries until the lease ends.
    case active
    /// The hub said no. It is asked again after a day.
    case denied
  }

  /// The hub's address.
  public let hub: String
  /// What is subscribed to: the feed's own address, as the feed says it.
  public let topic: String
  /// The last part of the callback's path, which cannot be guessed.
  public let token: String
  /// How far the subscription is.
  public private(set) var state: State
  /// When it was requested, in seconds since 1970.
  public private(set) var requested: Double
  /// When the lease ends, in seconds since 1970.
  public private(set) var leaseEnd: Double
  /// When the hub told of something last, in seconds since 1970.
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

  /// The lease that is asked for: ten days, which hubs shorten as they like.
  static let lease = 864_000.0
  /// The longest that is believed.
  private static let longestLease = 4 * lease
  private static let day = 86_400.0

  /// Whether polls may be rare, for the hub tells.
  func isActive(at now: Double) -> Bool { state == .active && now < leaseEnd }

  /// The subscription to request now; nil where the feed names no hub, or that was done.
  static func wanted(
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

  /// Whether a clock that was far ahead has noted what is not to come for long: the hub would not be asked again,
  /// or not be heard.
  private func isAhead(of now: Double) -> Bool {
    max(requested, lastPush ?? requested, leaseEnd - Self.longestLease) > now + Self.day
  }

  private func requestedAgain(at now: Double) -> FeedPush? {
    guard now - requested > 3_600 else { return nil }
    var push = self
    push.requested = now
    // The lease that runs goes on until the hub has asked back.
    if now >= leaseEnd { push.state = .requested }
    return push
  }

  /// The request to the hub (§5.1).
  func request(callback: String) -> PageRequest {
    // The token is a part of the path by itself.
    let callback = callback.hasSuffix("/") ? callback : callback + "/"
    let form: KeyValuePairs<String, String> = [
      "hub.mode": "subscribe", "hub.topic": topic, "hub.callback": callback + token,
      "hub.lease_seconds": "\(Int(Self.lease))",
    ]
    let body = form.map { "\($0.key)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    return PageRequest(method: .post, url: hub, body: .form(body))
  }

  /// Takes the hub's question whether a subscription is meant (§5.3); false where it is not.
  mutating func verified(topic: String?, lease: Double?, at now: Double) -> Bool {
    guard topic == self.topic, now - requested < Self.day || state == .active else { return false }
    state = .active
    // "nan" reads as a number, and is no time.
    let granted = lease.flatMap { $0.isNaN ? nil : $0 } ?? Self.lease
    leaseEnd = now + min(max(granted, 60), Self.longestLease)
    return true
  }

  /// Takes the hub's refusal (§5.2).
  mutating func refused(topic: String?) {
    if topic == self.topic { state = .denied }
  }

  /// This subscription with what another machine has heard of it meanwhile: `known`, which is kept.
  func merged(with known: FeedPush) -> FeedPush {
    guard known.token == token else { return self }
    var push = self
    // One that was verified since this was requested; not the lapsed one that is requested anew.
    if state == .requested, known.state == .active, known.leaseEnd > requested {
      (push.state, push.leaseEnd) = (.active, max(leaseEnd, known.leaseEnd))
    }
    push.lastPush = [lastPush, known.lastPush].compactMap(\.self).max()
    return push
  }

  /// Takes a delivery (§7).
  package mutating func delivered(at now: Double) { lastPush = now }
}
