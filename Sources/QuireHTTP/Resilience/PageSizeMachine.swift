import HTTPTypes
public import QuireCore
import QuirePagination
import Synchronization

/// The page size of a listing, shared by all of its walks.
final class PageSizes: Sendable {
  private let machine: Mutex<PageSizeMachine>

  init(full: Int) { machine = Mutex(PageSizeMachine(full: full)) }

  /// The size to ask for if it is not the caller's; nil if it is.
  var reduced: Int? { machine.withLock { $0.isFull ? nil : $0.size } }

  func failed(asked: Int, _ suspicion: PageSizeMachine.Suspicion) -> Int? {
    machine.withLock { $0.failed(asked: asked, suspicion) }
  }

  func succeeded(asked: Int) -> Int? { machine.withLock { $0.succeeded(asked: asked) } }
}

/// Decides how many items to ask for in the pages of a listing: half as many if the server cannot
/// serve a page, and twice as many again after some successful pages.
///
/// Pure. Source: V. Jacobson, "Congestion Avoidance and Control" (1988). Growth is in larger steps
/// than there, because sizes that differ by a power of two are easier to read.
struct PageSizeMachine {
  /// How certain it is that the size caused a failure.
  enum Suspicion { case possible, certain }

  /// The size that the caller asked for.
  let full: Int
  private(set) var size: Int
  private var pages = 0
  /// The number of successful pages before a greater size is tried; doubled if that failed.
  private var patience = Self.patience
  private var isGrown = false
  /// Whether a page has succeeded since the last halving that was only possibly needed.
  private var mayHalveOnSuspicion = true

  static let patience = 4
  static let most = 256

  init(full: Int) { (self.full, size) = (full, full) }

  var isFull: Bool { size == full }

  /// Notes that a page of `asked` items failed. Returns the size to ask for instead; nil if the
  /// size is not the reason or cannot be smaller.
  mutating func failed(asked: Int, _ suspicion: Suspicion) -> Int? {
    // Another walk has reduced the size already.
    if size < asked { return size }
    guard asked > 1, suspicion == .certain || mayHalveOnSuspicion else { return nil }
    if suspicion == .possible { mayHalveOnSuspicion = false }
    if isGrown { patience = min(Self.most, patience * 2) }
    (size, pages, isGrown) = (asked / 2, 0, false)
    return size
  }

  /// Notes that a page succeeded. Returns the size of the next page if that is greater.
  mutating func succeeded(asked: Int) -> Int? {
    mayHalveOnSuspicion = true
    guard asked == size, size < full else { return nil }
    pages += 1
    guard pages >= patience else { return nil }
    (size, pages, isGrown) = (min(full, size * 2), 0, true)
    return size
  }
}

extension RetryMachine.Failure {
  /// How likely a smaller page cures the failure; nil if it does not.
  var sizeSuspicion: PageSizeMachine.Suspicion? {
    if error.code == .limitExceeded {
      let names = [
        "TransferLimits.wireBytes", "TransferLimits.decodedBytes", "DecodingLimits.items",
      ]
      return error.remedies.contains { names.contains("\($0.setting)") } ? .certain : nil
    }
    if error.code == .timedOut {
      let names = ["Timeouts.total", "Timeouts.stall", "Timeouts.head"]
      return error.remedies.contains { names.contains("\($0.setting)") } ? .possible : nil
    }
    guard let response = error.response else { return nil }
    let status = response.status.code
    if status == 413 { return .certain }
    guard [400, 422, 500, 502, 503, 504, 524, 200].contains(status) else { return nil }
    let text = String(decoding: response.body.prefix(4096), as: UTF8.self).lowercased()
    if Self.complaints.contains(where: text.contains) { return .certain }
    return [504, 524].contains(status)
      || [500, 502, 503].contains(status) && Self.doubts.contains(where: text.contains)
      ? .possible : nil
  }

  private static let complaints = [
    "response too large", "response size", "payload too large", "result too large",
    "entity too large", "page size too large", "too many records", "reduce the page size",
    "reduce the number of", "smaller page", "try a smaller", "max_result_window",
    "exceeds the maximum response", "query is too expensive", "complexity exceeds",
    "reduce the amount of data",
  ]
  private static let doubts = ["timeout", "timed out", "took too long", "deadline exceeded"]
}

extension WalkReport.Warning.Code {
  /// The page size was halved because the server could not serve it, or raised again.
  public static let pageSizeChanged = Self("pageSizeChanged")
}
