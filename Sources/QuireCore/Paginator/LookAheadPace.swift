/// How fast pages come and how fast they are consumed, and how far ahead that asks to load.
struct LookAheadPace: Sendable {
  /// The last 32 numbers of a kind.
  private struct Recent: Sendable {
    private var all: [Double] = []
    private var place = 0

    mutating func add(_ number: Double) {
      if all.count < 32 {
        all.append(number)
      } else {
        all[place] = number
        place = (place + 1) % all.count
      }
    }

    var isKnown: Bool { !all.isEmpty }
    var mean: Double { all.reduce(0, +) / Double(max(1, all.count)) }
    var largest: Double { all.max() ?? 0 }
  }

  /// In seconds.
  private var latency = Recent()
  /// In seconds an item.
  private var consumption = Recent()
  private var loadBegan: Duration?
  private var served: (at: Duration, items: Int)?
  private var isFilling = true
  /// How many pages ahead were aimed at the last time.
  private(set) var depth = 1

  // MARK: Events

  /// A consumer asks.
  mutating func asked(at now: Duration) {
    guard let served else { return }
    consumption.add((now - served.at) / .seconds(1) / Double(served.items))
    self.served = nil
  }

  /// A consumer got items.
  mutating func served(_ items: Int, at now: Duration) {
    served = items > 0 ? (now, items) : nil
  }

  mutating func loadBegan(at now: Duration) { loadBegan = now }

  /// A load ended; `isPage` where it brought one.
  mutating func loadEnded(isPage: Bool, at now: Duration) {
    if isPage, let loadBegan { latency.add((now - loadBegan) / .seconds(1)) }
    loadBegan = nil
  }

  // MARK: How far ahead

  /// Below how many items that are left the next page is due; nil before anything is known.
  ///
  /// While it fills up, these are the items that last for the high mark, and behind that those for the
  /// low one. Neither mark is below the longest time that one of the last 32 pages took.
  mutating func wanted(_ marks: ClosedRange<Duration>, left: Int) -> Int? {
    guard consumption.isKnown, latency.isKnown else { return nil }
    let low = max(marks.lowerBound / .seconds(1), latency.largest)
    let high = max(marks.upperBound / .seconds(1), low)
    let (fewest, most) = (items(lasting: low), items(lasting: high))
    if left >= most { isFilling = false } else if left < fewest { isFilling = true }
    return isFilling ? most : fewest
  }

  private func items(lasting seconds: Double) -> Int {
    let perItem = consumption.mean
    // An item too many by rounding would be a page too many.
    return perItem * 1e9 > seconds
      ? Int((seconds / perItem * (1 - 1e-9)).rounded(.up)) : 1_000_000_000
  }

  /// Notes how many pages ahead are aimed at; returns the change, if it is one.
  mutating func aim(
    _ marks: ClosedRange<Duration>, perPage: Int, most: Int
  ) -> WalkReport.Adjustment? {
    guard consumption.isKnown, latency.isKnown, perPage > 0 else { return nil }
    let high = max(marks.upperBound / .seconds(1), latency.largest)
    let pages = items(lasting: high) / perPage + (items(lasting: high) % perPage > 0 ? 1 : 0)
    let new = min(most, max(1, pages))
    guard new != depth else { return nil }
    defer { depth = new }
    let time = Duration.seconds(latency.mean).words
    let longest = Duration.seconds(latency.largest).words
    let use = Duration.seconds(consumption.mean * Double(perPage)).words
    return .init(
      .pagesAhead, from: depth, to: new,
      "a page takes \(time), at times \(longest), and is consumed in \(use).")
  }
}
