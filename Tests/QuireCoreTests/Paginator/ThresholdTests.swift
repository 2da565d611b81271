import Testing

@testable import QuireCore
@testable import QuireLists

@Suite struct ThresholdTests {
  @Test("PM-06: values that cannot work are refused when a threshold is made")
  func refusesValues() {
    for fraction in [1.2, -0.1, .nan, .infinity, -.infinity] {
      let error = #expect(throws: PageError.self) { try Threshold(fraction: fraction) }
      #expect(error?.code == .invalidArgument)
    }
    let error = #expect(throws: PageError.self) { try Threshold(remaining: -5) }
    #expect(error?.message.contains("-5") == true)
    #expect(throws: Never.self) { try Threshold(fraction: 0) }
    #expect(throws: Never.self) { try Threshold(fraction: 1) }
    #expect(throws: Never.self) { try Threshold(remaining: 0) }
  }

  @Test("P-2, K-03: comparisons are strict")
  func isStrict() throws {
    let fraction = Threshold.fraction(0.6)
    #expect(!fraction.isExceeded(Progress(consumed: 6, loaded: 10)))
    #expect(fraction.isExceeded(Progress(consumed: 7, loaded: 10)))
    let remaining = Threshold.remaining(items: 3)
    #expect(!remaining.isExceeded(Progress(consumed: 7, loaded: 10)))
    #expect(remaining.isExceeded(Progress(consumed: 8, loaded: 10)))
  }

  @Test("The trigger is the first count at which the threshold is exceeded, for any numbers")
  func findsTrigger() throws {
    var thresholds = [Threshold.onDemand, .standard]
    for step in 0...20 { thresholds.append(.fraction(Double(step) / 20)) }
    for items in [0, 1, 2, 5, 50, Int.max] { thresholds.append(.remaining(items: items)) }
    for step in 0...20 { thresholds.append(.fraction(Double(step) / 20, of: .lastPage)) }
    thresholds += [.oneViewport, .remainingExtent(100)]
    for threshold in thresholds {
      for loaded in 0...40 {
        for lastPage in loaded == 0 ? [0] : Array(Set([1, (loaded + 1) / 2, loaded])) {
          for consumed in 0...loaded {
            let first = (consumed + 1..<loaded + 1).first {
              threshold.isExceeded(Progress(consumed: $0, loaded: loaded, lastPage: lastPage))
            }
            let progress = Progress(consumed: consumed, loaded: loaded, lastPage: lastPage)
            #expect(threshold.trigger(after: progress) == first)
          }
        }
      }
    }
  }
}
