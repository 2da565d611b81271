import HTTPTypes
public import QuireCore
import QuirePagination
import Synchronization

/// How many items the pages of a listing are asked for in, for all its walks.
final class PageSizes: Sendable {
  private let machine: Mutex<PageSizeMachine>

  init(full: Int) { machine = Mutex(PageSizeMachine(full: full)) }

  /// The size where it is not the caller's own.
  var reduced: Int? { machine.withLock { $0.isFull ? nil : $0.size } }

  func failed(asked: Int, _ complaint: PageSizeMachine.Complaint) -> Int? {
    machine.withLock { $0.failed(asked: asked, complaint) }
  }

  func succeeded(asked: Int) -> Int? { machine.withLock { $0.succeeded(asked: asked) } }
}

/// Decides how many items the pages of a listing are asked for in: half as many where the server cannot
/// serve so many, and twice as many again after some pages that went well.
///
/// Pure. Source: V. Jacobson, "Congestion Avoidance and Control" (1988), whose careful growth this takes
/// in larger steps, for a page size that is a power of two less than another stays easy to read.
struct PageSizeMachine {
  /// How sure it is that the size was the reason.
  enum Complaint { case possible, certain }

  /// The size that the caller wants.
  let full: Int
  private(set) var size: Int
  private var pages = 0
  /// Pages at one size before a greater one is tried; doubled when that was too much.
  private var patience = Self.patience
  private var isGrown = false
  /// Whether a page came since the last halving for a reason that was only possible.
  private var mayDoubt = true

  static let patience = 4
  static let most = 256

  init(full: Int) { (self.full, size) = (full, full) }

  var isFull: Bool { size == full }

  /// A page of `asked` items failed. Returns the size to ask for instead; nil where the size is not the
  /// reason, or cannot be any smaller.
  mutating func failed(asked: Int, _ complaint: Complaint) -> Int? {
    // Another page has been there before.
    if size < asked { return size }
    guard asked > 1, complaint == .certain || mayDoubt else { return nil }
    if complaint == .possible { mayDoubt = false }
    if isGrown { patience = min(Self.most, patience * 2) }
    (size, pages, isGrown) = (asked / 2, 0, false)
    return size
  }

  /// A page came. Returns the size that the next one is asked for in, where that is a greater one.
  mutating func succeeded(asked: Int) -> Int? {
    mayDoubt = true
    guard asked == size, size < full else { return nil }
    pages += 1
    guard pages >= patience else { return nil }
    (size, pages, isGrown) = (min(full, size * 2), 0, true)
    return size
  }
}

extension RetryMachine.Failure {
  /// Whether a smaller page may cure the failure.
  var complaint: PageSizeMachine.Complaint? {
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
  /// A page size that the server could not serve was halved, or tried again.
  public static let pageSizeChanged = Self("pageSizeChanged")
}
