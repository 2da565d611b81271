import Foundation
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination

/// A listing's destination, and beside it what its children and its next run need.
struct SyncSink: Sink {
  /// The run of this round was complete before: there is nothing to do but to note it.
  struct AlreadyDone: Error {
    var checkpoint: Checkpoint
  }

  let base: any Sink
  let listing: SyncListing
  /// What the children ask of its items, by the names that they use.
  let wanted: [SyncPlaceholder]
  let source: SyncSource
  let state: SyncState

  var mode: SinkMode { base.mode }

  func open(_ opening: SinkOpening) async throws -> any SinkSession {
    let session = try await base.open(opening)
    do {
      var record = try state.record(listing.name)
      let checkpoint = session.checkpoint
      let next = checkpoint.map { $0.isComplete ? $0.run + 1 : $0.run } ?? 1
      if record.run == 0 {
        record.run = base.mode == .once ? checkpoint?.run ?? 1 : next
        try state.save(record)
      }
      if let checkpoint, checkpoint.isComplete, checkpoint.run == record.run {
        throw AlreadyDone(checkpoint: checkpoint)
      }
      return Session(self, session, record)
    } catch {
      await session.close()
      throw error
    }
  }

  private final class Session: SinkSession {
    private let sink: SyncSink
    private let base: any SinkSession
    private var record: SyncState.Record
    private var parents: [String] = []
    private var finished: [String] = []

    init(_ sink: SyncSink, _ base: any SinkSession, _ record: SyncState.Record) {
      self.sink = sink
      self.base = base
      self.record = record
    }

    var checkpoint: Checkpoint? { base.checkpoint }

    func write(_ page: SinkPage) async throws {
      try await base.write(page)
      if !sink.wanted.isEmpty {
        let above =
          sink.wanted.allSatisfy { $0.listing == nil }
          ? .null : try sink.source.values(at: page.position)
        for item in page.items { parents.append(try sink.values(of: item, above)) }
      }
      if let since = sink.listing.since {
        for item in page.items {
          guard let value = try item.value(at: since.field), value != .null else { continue }
          record.greatest = SyncIncrement.greater(record.greatest, value)
        }
        if let values = sink.source.finished(at: page.position) { finished.append(values) }
      }
    }

    /// What is noted first comes again where the commit does not come through, and changes nothing then.
    func commit(_ checkpoint: Checkpoint) async throws {
      if !parents.isEmpty || sink.listing.since != nil {
        try sink.state.note(record, parents: parents, finished: finished)
        (parents, finished) = ([], [])
      }
      try await base.commit(checkpoint)
      guard record.isRestarting else { return }
      record.isRestarting = false
      try sink.state.save(record)
    }

    func close() async { await base.close() }
  }

  /// What the descendants need of an item, and, through it, of its ancestors, as one text; a value that is
  /// not there is null.
  fileprivate func values(of item: RawItem, _ above: JSONValue) throws -> String {
    let members = try wanted.map { placeholder in
      JSONValue.Member(
        SyncSource.name(of: placeholder, for: listing.name),
        placeholder.listing == nil
          ? try item.value(at: placeholder.path) ?? .null
          : above[SyncSource.name(of: placeholder, for: listing.parent)] ?? .null)
    }
    return "\(JSONValue.object(members))"
  }
}

/// The values by which a listing tells what has changed.
enum SyncIncrement {
  /// The greater of two values: of numbers by their size, of times and other texts by their order.
  static func greater(_ known: JSONValue?, _ value: JSONValue) -> JSONValue {
    guard let known else { return value }
    let (left, right) = (known.scalarText ?? "", value.scalarText ?? "")
    if let left = Decimal(string: left), let right = Decimal(string: right), case .number = value {
      return left < right ? value : known
    }
    if let left = time(left), let right = time(right), left != right {
      return left < right ? value : known
    }
    return left.utf8.lexicographicallyPrecedes(right.utf8) ? value : known
  }

  /// What the next run sends: the greatest value, or when the run began where that is earlier, less the
  /// look-back. What changes while a run reads would else be missed.
  static func start(_ watermark: JSONValue, began: Double, _ lookBack: String?) throws -> String {
    let text = watermark.scalarText ?? ""
    if case .number = watermark {
      guard let lookBack else { return text }
      guard let number = Decimal(string: text), let back = Decimal(string: lookBack) else {
        throw SyncFileError("since.lookBack", "The values are numbers: expected a number.")
      }
      return "\(number - back)"
    }
    guard let greatest = time(text) else { return text }
    let back = try DurationOption.duration(lookBack ?? "5m", for: "since.lookBack")
    let earlier =
      min(greatest, Date(timeIntervalSince1970: began))
      .addingTimeInterval(-Double(back.components.seconds))
    // Without its day's time, a date stays one.
    return text.count == 10
      ? String(earlier.formatted(.iso8601).prefix(10)) : earlier.formatted(.iso8601)
  }

  /// A time as RFC 3339 writes it, or a day.
  private static func time(_ text: String) -> Date? {
    let text = text.count == 10 ? text + "T00:00:00Z" : text
    return (try? Date(text, strategy: .iso8601))
      ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
  }
}
