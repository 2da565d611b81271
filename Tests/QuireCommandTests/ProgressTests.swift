import QuireCore
import Synchronization
import Testing

@testable import QuireCommand

@Suite("Progress")
struct ProgressTests {
  @Test("The line shows pages, items, rate, bytes, percent, ETA, retries and what it waits for")
  func line() {
    var line = ProgressLine(
      pages: 25, items: 2_500, bytes: 1_234_567, retries: 2, goal: .items(10_000),
      elapsed: .seconds(5), waitingFor: "waiting for page 26")
    #expect(
      line.text(width: 200)
        == "[##........] 25%  25 pages  2500 items  500 items/s  1.2 MB  ETA 0:15  "
        + "2 retries  waiting for page 26")
    line.goal = nil
    line.retries = 0
    #expect(line.text(width: 200).hasPrefix("25 pages  2500 items  500 items/s  1.2 MB  waiting"))
  }

  @Test("On 80 columns, what says least goes first; what it waits for stays to the last")
  func narrow() {
    var line = ProgressLine(
      pages: 25, items: 2_500, bytes: 1_234_567, retries: 2, goal: .items(10_000),
      elapsed: .seconds(5), waitingFor: "waiting for page 26")
    #expect(
      line.text(width: 79)
        == "[##........] 25%  2500 items  ETA 0:15  2 retries  waiting for page 26")
    for width in 0..<120 { #expect(line.text(width: width).count <= width) }
    #expect(line.text(width: 19) == "waiting for page 26")
    #expect(line.text(width: 10) == "waiting fo")
    line = ProgressLine(
      pages: 12_345, items: 1_234_500, bytes: 1_234_567_890, retries: 12,
      goal: .items(10_000_000), elapsed: .seconds(3_000),
      waitingFor: "waiting for 30.0 seconds after throttled")
    #expect(
      line.text(width: 79)
        == "[#.........] 12%  ETA 5:55:02  waiting for 30.0 seconds after throttled")
  }

  @Test("The goal is the server's total, unless the caller's own limit comes first")
  func goal() {
    func goal(_ total: Total?, _ limits: Limits = Limits(), resumed: Bool = false) -> ProgressLine
      .Goal?
    {
      ProgressLine.goal(total: total, limits: limits, resumed: resumed, items: 100)
    }
    #expect(goal(nil) == nil)
    #expect(goal(Total(500)) == .items(500))
    #expect(goal(Total(500), Limits(items: 200)) == .items(200))
    #expect(goal(Total(50, .pages)) == .pages(50))
    #expect(goal(Total(50, .pages), Limits(pages: 3)) == .pages(3))
    #expect(goal(Total(400, .remaining)) == .items(500))
    #expect(goal(Total(500, .lowerBound)) == nil)
    #expect(goal(nil, Limits(items: 7)) == .items(7))
    #expect(goal(Total(500), resumed: true) == nil)
    #expect(goal(Total(400, .remaining), resumed: true) == .items(500))
    #expect(goal(Total(Int.max, .remaining)) == nil)
    #expect(goal(Total(Int.max, .remaining), Limits(items: 7)) == .items(7))
  }

  @Test("D-4: no number of a server's stops the line from being drawn")
  func hostileNumbers() {
    let kinds: [Total.Kind] = [.items, .estimate, .lowerBound, .remaining, .pages]
    for kind in kinds {
      for value in [Int.max, Int.max - 1, 0, -1, Int.min] {
        for elapsed in [Duration.zero, .nanoseconds(1), .seconds(Int64.max / 2)] {
          var line = ProgressLine(
            pages: 1, items: 100, bytes: Int.max, retries: Int.max, elapsed: elapsed)
          line.goal = ProgressLine.goal(
            total: Total(value, kind), limits: Limits(), resumed: false, items: line.items)
          #expect(line.text(width: 79).contains("100 items"), "\(kind) \(value) \(elapsed)")
        }
      }
    }
  }

  @Test("Times and sizes read well at every magnitude")
  func units() {
    #expect(ProgressLine.clock(7) == "0:07")
    #expect(ProgressLine.clock(61.2) == "1:02")
    #expect(ProgressLine.clock(3_723) == "1:02:03")
    #expect(ProgressLine.size(999) == "999 B")
    #expect(ProgressLine.size(1_000) == "1.0 kB")
    #expect(ProgressLine.size(2_550_000_000) == "2.5 GB")
  }

  @Test("The meter draws at most ten times a second, and at once when it is urgent")
  func throttle() {
    let drawn = Mutex<[String]>([])
    let start = ContinuousClock.now
    let meter = ProgressMeter(.always, at: start) { text in drawn.withLock { $0.append(text) } }
    for tick in 0..<100 {
      meter.update(at: start + .milliseconds(10 * tick)) { $0.pages = tick }
    }
    #expect(drawn.withLock { $0.count } == 10)
    meter.update(at: start + .milliseconds(1001), urgent: true) { $0.waitingFor = "a while" }
    #expect(drawn.withLock { $0.last }?.contains("99 pages") == true)
    #expect(drawn.withLock { $0.last }?.contains("a while") == true)
  }

  @Test("A meter that is off writes nothing")
  func off() {
    let drawn = Mutex(0)
    let meter = ProgressMeter(.never) { _ in drawn.withLock { $0 += 1 } }
    meter.update { $0.pages = 1 }
    meter.clear()
    #expect(drawn.withLock { $0 } == 0)
  }

  @Test("A note of a sync as JSON has nothing that a terminal obeys, and is the same value")
  func notes() throws {
    let words = "a\u{9B}31m\u{202E}b"
    let note = SyncNote(listing: "issues", event: .ended(.init(kind: .failed, words: words)))
    let json = note.json
    #expect(json.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) }, "\(json)")
    #expect(try JSONValue(parsing: json)["message"]?.string == words)
  }
}
