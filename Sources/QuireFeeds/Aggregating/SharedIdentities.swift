#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The identities that several entries of a feed share, and the entry that keeps each.
///
/// The other entries get a digest as their identifier, so that one entry is not stored over another.
/// An entry keeps its identifier, or its digest, when the others have left the feed. `SeenEntries` has
/// already removed duplicates of the same entry.
struct SharedIdentities {
  /// Digests of the shared identities.
  private var names: [String]
  /// By these digests, the digest of the entry that keeps the identity. Missing for identities that an
  /// earlier version recorded: no entry keeps those.
  private var keepers: [String: String]
  /// The digests of the entries that the last poll found, by those of their identities: they are stored
  /// by their identities.
  private let known: [String: String]

  /// The maximum number of identities to remember. Few are needed: publishers give one identifier to
  /// all entries, or by mistake to a few.
  private static let maximum = 256

  init(of subscription: FeedSubscription) {
    names = subscription.sharedIdentities ?? []
    keepers = subscription.identityKeepers ?? [:]
    known = Dictionary(
      zip(subscription.newest ?? [], subscription.newestContents ?? []),
      uniquingKeysWith: { first, _ in first })
  }

  func save(in subscription: inout FeedSubscription) {
    subscription.sharedIdentities = names.isEmpty ? nil : names
    subscription.identityKeepers = keepers.isEmpty ? nil : keepers
  }

  /// Replaces shared identifiers by digests of each entry with its date and address, and of all of its
  /// properties where these are the same, too.
  mutating func separate(_ entries: inout [FeedEntry]) {
    separate(&entries, naming: \.storedDigest, by: \.distinctDigest)
    separate(&entries, naming: \.storedDigestOfContent, by: \.wholeDigest)
    names = names.suffix(Self.maximum)
    let kept = Set(names)
    keepers = keepers.filter { kept.contains($0.key) }
  }

  private mutating func separate(
    _ entries: inout [FeedEntry], naming: (FeedEntry.Identity) -> String,
    by digest: (FeedEntry) -> String
  ) {
    var places: [FeedEntry.Identity: [Int]] = [:]
    for (place, entry) in entries.enumerated() { places[entry.identity, default: []].append(place) }
    let shared = Set(names)
    let several = places.filter { identity, places in
      places.count > 1 || !shared.isEmpty && shared.contains(naming(identity))
    }
    for (identity, places) in several.sorted(by: { $0.value[0] < $1.value[0] }) {
      let name = naming(identity)
      if !shared.contains(name) {
        names.append(name)
        let oldest = Self.oldest(of: places, in: entries)
        keepers[name] = known[name] ?? digest(entries[oldest])
      }
      for place in places {
        let own = digest(entries[place])
        if own == keepers[name] { continue }
        entries[place].id = FeedEntry.Identity(.digest, own).text
      }
    }
  }

  /// Returns the place of the entry that was probably there first: the one of the earliest date, the
  /// last one in a feed without dates.
  private static func oldest(of places: [Int], in entries: [FeedEntry]) -> Int {
    var oldest = places[places.count - 1]
    for place in places.reversed() {
      guard let date = entries[place].date, let earliest = entries[oldest].date else { continue }
      if date < earliest { oldest = place }
    }
    return oldest
  }
}

extension FeedEntry.Identity {
  /// The digest by which a subscription remembers the identity.
  var storedDigest: String {
    var digest = StableDigest()
    digest.add(text)
    return digest.text
  }

  /// The digest by which it remembers that entries with the same content share the identity.
  fileprivate var storedDigestOfContent: String {
    var digest = StableDigest()
    digest.add(text)
    digest.add("content")
    return digest.text
  }
}
