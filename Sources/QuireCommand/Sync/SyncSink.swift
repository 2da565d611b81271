import Foundation
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination

/// A listing's destination, which also stores what the listing's children and its next run need.
struct SyncSink: Sink {
  /// The error that the run of this round is already complete and only has to be recorded.
  struct AlreadyDone: Error {
    var checkpoint: Checkpoint
  }

  let base: any Sink
  let listing: SyncListing
  let values: SyncValues
  let state: SyncState

  var mode: SinkMode { base.mode }

  /// Throws if the destination holds an unfinished run whose position refers to parents that the
  /// state no longer knows.
  static func check(
    _ checkpoint: Checkpoint?, of listing: SyncListing, _ record: SyncState.Record
  ) throws(SinkError) {
    guard record.sinkRun == 0, listing.parent != nil, checkpoint?.isOver == false else { return }
    throw SinkError(
      .otherRequest,
      "The destination holds an unfinished run for parents that are not known any more.")
  }

  func open(_ opening: SinkOpening) async throws -> any SinkSession {
    let session = try await base.open(opening)
    do {
      var record = try state.record(listing.name)
      try Self.check(session.checkpoint, of: listing, record)
      let checkpoint = try known(session.checkpoint, record)
      let next = checkpoint.map { $0.isOver ? $0.run + 1 : $0.run } ?? 1
      if record.sinkRun == 0 {
        record.sinkRun = base.mode == .once ? checkpoint?.run ?? 1 : next
        try state.save(record)
      }
      let parent = try listing.parent.map { try state.record($0) }
      if let checkpoint {
        try record.checkAge(checkpoint, of: listing, parent: parent)
        if record.isAhead(of: checkpoint) { try state.forgetAll(of: listing.name) }
      } else {
        record.sinkRun = 1
        try record.beginEmpty(listing, parent: parent)
        try state.save(record)
      }
      if let checkpoint, checkpoint.isOver, checkpoint.run == record.sinkRun {
        throw AlreadyDone(checkpoint: checkpoint)
      }
      return SyncSession(session, at: checkpoint, values) { [state, listing] parents, finished in
        guard !parents.isEmpty || listing.since != nil else { return }
        try state.store(record, parents: parents, finished: finished)
      } committed: { [state] in
        guard record.isRestarting else { return }
        record.isRestarting = false
        try state.save(record)
      }
    } catch {
      await session.close()
      throw error
    }
  }

  /// The error that a destination has items which are not known as parents, and are not read again.
  static var unknownParents: SinkError {
    SinkError(
      .otherRequest,
      "The destination was filled before the state of this sync began, which does not know the items that other "
        + "listings are read for.")
  }

  /// Returns a checkpoint without what was read before the state began, which knows none of those
  /// items as parents: they are read again. Throws if the mode does not allow that.
  private func known(
    _ checkpoint: Checkpoint?, _ record: SyncState.Record
  ) throws(SinkError) -> Checkpoint? {
    guard var known = checkpoint, record.isNew, !values.neededValues.isEmpty else {
      return checkpoint
    }
    guard base.mode == .upsert else {
      guard !known.isOver || listing.notesChanges || base.mode == .once else { return known }
      throw Self.unknownParents
    }
    (known.position, known.memory) = (nil, nil)
    return known
  }
}

/// An open destination that also collects what is to be stored of its pages.
final class SyncSession: PausableSession {
  private(set) var checkpoint: Checkpoint?
  private let base: any SinkSession
  private let values: SyncValues
  private let store:
    (_ parents: [SyncState.StoredParent], _ finished: [SyncState.ReadParent]) async throws -> Void
  private let committed: () throws -> Void
  private var parents: [SyncState.StoredParent] = []
  private var finished: [SyncState.ReadParent] = []

  init(
    _ base: any SinkSession, at checkpoint: Checkpoint?, _ values: SyncValues,
    store:
      @escaping (_ parents: [SyncState.StoredParent], _ finished: [SyncState.ReadParent])
      async throws -> Void,
    committed: @escaping () throws -> Void = {}
  ) {
    (self.base, self.checkpoint, self.values) = (base, checkpoint, values)
    (self.store, self.committed) = (store, committed)
  }

  func write(_ page: SinkPage) async throws {
    try await base.write(page)
    parents += try values.all(of: page)
    if values.listing.since != nil, let parent = values.source.finished(at: page.position) {
      finished.append(parent)
    }
  }

  /// Stores the parents, then commits. If the commit fails, the same parents are stored again,
  /// which changes nothing.
  func commit(_ checkpoint: Checkpoint) async throws {
    try await store(parents, finished)
    (parents, finished) = ([], [])
    try await base.commit(checkpoint)
    self.checkpoint = checkpoint
    try committed()
  }

  func pause() async throws { try await (base as? any PausableSession)?.pause() }

  func close() async { await base.close() }
}

/// The values of a listing's items that its descendants need.
struct SyncValues: Sendable {
  let listing: SyncListing
  /// The placeholders for the values, as the descendants name them.
  let neededValues: [SyncPlaceholder]
  let source: SyncSource

  /// Returns the values that descendants need, for each item of a page, including those of its
  /// ancestors. A value that is missing or is not valid Unicode is null. Deleted items follow.
  func all(of page: SinkPage) throws -> [SyncState.StoredParent] {
    guard !neededValues.isEmpty else { return [] }
    let above: JSONValue = listing.parent == nil ? .null : try source.values(at: page.position)
    let items = try page.items.map { item in
      let members = try neededValues.map { placeholder in
        JSONValue.Member(
          placeholder.memberName(in: listing.name),
          try placeholder.listing == nil
            ? item.valueIfUnicode(at: placeholder.path) ?? .null
            : noted(placeholder, in: above))
      }
      return SyncState.StoredParent("\(JSONValue.object(members))", item: try key(of: item, above))
    }
    return items + (try page.deleted.compactMap { try key(of: $0, above).map { .init(gone: $0) } })
  }

  /// Returns the identity by which a later item replaces this one; nil if none does. It includes
  /// the parent's values, because an item of another parent may have the same key and children of
  /// its own.
  private func key(of item: RawItem, _ above: JSONValue) throws -> String? {
    guard listing.destination.mode == .upsert, let key = listing.destination.key else { return nil }
    var values = [above]
    for path in key.paths {
      guard let value = try item.valueIfUnicode(at: path) else { return nil }
      values.append(value)
    }
    return "\(JSONValue.array(values))"
  }

  private func noted(_ placeholder: SyncPlaceholder, in above: JSONValue) throws -> JSONValue {
    guard let value = above[placeholder.memberName(in: listing.parent)] else {
      throw listing.unnoted(placeholder)
    }
    return value
  }
}
