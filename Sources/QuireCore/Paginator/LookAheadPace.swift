/// The paces at which pages come and items are consumed, and how far ahead they ask to load.
struct LookAheadPace: Sendable {
  /// The last 32 measurements of one kind.
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

  /// The times of loads, in seconds.
  private var latency = Recent()
  /// The times in which an item was consumed, in seconds.
  private var consumption = Recent()
  private var loadBegan: Duration?
  private var served: (at: Duration, items: Int)?
  private var isFilling = true
  /// The number of pages ahead that was last aimed at.
  private(set) var depth = 1

  // MARK: Events

  /// Notes that a consumer asks.
  mutating func asked(at now: Duration) {
    guard let served else { return }
    consumption.add((now - served.at) / .seconds(1) / Double(served.items))
    self.served = nil
  }

  /// Notes that a consumer got items.
  mutating func served(_ items: Int, at now: Duration) {
    served = items > 0 ? (now, items) : nil
  }

  mutating func loadBegan(at now: Duration) { loadBegan = now }

  /// Notes that a load ended; `isPage` if it brought a page.
  mutating func loadEnded(isPage: Bool, at now: Duration) {
    if isPage, let loadBegan { latency.add((now - loadBegan) / .seconds(1)) }
    loadBegan = nil
  }

  // MARK: How far ahead

  /// Returns the number of remaining items below which the next page is due; nil before both paces
  /// are known.
  ///
  /// While loading fills up, that is the number of items that last for the high mark, afterwards
  /// for the low mark. Neither mark counts as less than the longest time of the last 32 pages.
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
    // Without the tolerance, rounding could add an item, and with it a page.
    return perItem * 1e9 > seconds
      ? Int((seconds / perItem * (1 - 1e-9)).rounded(.up)) : 1_000_000_000
  }

  /// Notes how many pages ahead the marks ask for. Returns the change, if there is one.
  mutating func aim(
    _ marks: ClosedRange<Duration>, perPage: Int, most: Int
  ) -> WalkReport.Adjustment? {
    guard consumption.isKnown, latency.isKnown, perPage > 0 else { return nil }
    let high = max(marks.upperBound / .seconds(1), latency.largest)
    let pages = (items(lasting: high) + perPage - 1) / perPage
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
