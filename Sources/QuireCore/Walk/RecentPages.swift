/// The fingerprints of the pages delivered last, by which a page is known again.
struct RecentPages: Sendable {
  private let capacity: Int
  /// The oldest first.
  private var fingerprints: [Int] = []

  /// Remembers `capacity` pages.
  init(capacity: Int) { self.capacity = capacity }

  /// Takes note of a page. Returns how many pages ago it was there, if it was.
  mutating func meet(_ fingerprint: Int) -> Int? {
    guard capacity > 0 else { return nil }
    if let place = fingerprints.lastIndex(of: fingerprint) { return fingerprints.count - place }
    if fingerprints.count == capacity { fingerprints.removeFirst() }
    fingerprints.append(fingerprint)
    return nil
  }
}
