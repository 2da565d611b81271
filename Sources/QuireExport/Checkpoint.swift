public import QuireCore
import QuireHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The progress of an export, which its sink stores together with the items.
///
/// A checkpoint identifies its listing by digests, as a `Position` does, so that no export
/// continues another listing, and it holds no secrets. It is stored as `bytes`: JSON with a version
/// and a check sum that detects every changed byte.
public struct Checkpoint: Hashable, Sendable {
  /// The number of commits in this destination, this one included. Of two checkpoints, the one with
  /// the greater number is the newer, regardless of clocks.
  public var sequence: Int
  /// The number of this run in its destination, from 1. A complete run may be followed by another;
  /// see `SinkMode`.
  public var run: Int
  /// The position at which the run began.
  public var start: Position
  /// The position at which the run continues; nil once it is complete.
  public var position: Position?
  /// The digest of the last item in front of `position`, if that lies inside a page; nil if it does
  /// not, or if the item is unknown. The run that continues reads the item again, to see whether
  /// the page is what it was.
  package var lastItem: String?
  /// The digest of what identifies the last item in front of `position`, if that lies at the end of a
  /// page; nil if it does not, or if nothing does. The run that continues looks for the item in its
  /// first page, to see whether items have moved.
  var lastOnPage: String?
  /// The number of pages that the run has committed.
  public var pages: Int
  /// The number of items that the run has committed.
  public var items: Int
  /// The number of items that the server declared but did not send, summed over the listings (or
  /// parts of the listing) that ended short; nil if none did.
  public var missing: Int?
  /// `missing` of the complete run that the destination holds, during a run that is to replace it
  /// (`SinkMode.replace`); nil otherwise.
  var replacedMissing: Int?
  /// Whether the run is to replace what the destination holds, which stays until then.
  package var isReplacing: Bool { replacedMissing != nil && !isOver }
  /// Whether this run reached the end of its listing but was not allowed to replace the complete
  /// run in the destination, because more items are missing from it. Its items stay beside the
  /// destination.
  package var fellShort = false
  /// The parts of the listing that failed and were left out; nil if none did.
  package var leftOut: LeftOut?
  /// The items that the server has sent and declared during the run. `received` is nil if the run
  /// did not begin at the start of its listing.
  package var tally = ItemTally(received: nil)
  /// The file beside the destination that holds the items set aside; nil if there is none.
  package var aside: AsideFile?
  /// The digests that identify the listing; empty if its source cannot tell listings apart.
  public var listing: [String: String]
  /// The state that later runs need, such as the greatest value seen; see `Increment`.
  public var memory: JSONValue?

  /// Creates a checkpoint at the beginning of a run.
  public init(
    sequence: Int = 0, run: Int = 1, start: Position = .start, listing: [String: String] = [:]
  ) {
    self.sequence = sequence
    self.run = run
    self.start = start
    position = start
    pages = 0
    items = 0
    self.listing = listing
  }

  /// Whether the run has reached the end of its listing.
  public var isComplete: Bool { position == nil }

  /// Whether the next run reads its listing from the beginning: this run is complete, or it fell
  /// short of the complete run that it was to replace. In the second case the sink drops the items
  /// beside the destination.
  public var isOver: Bool { isComplete || fellShort }
}

/// The parts of a listing that failed and were left out, each of which counts as one missing item.
package struct LeftOut: Hashable, Sendable, Codable {
  /// The number of parts.
  package var count: Int
  /// Why the first of them failed.
  package var failure: String
}

/// The state at a commit of the file that holds the items set aside. What stands behind it in the
/// file belongs to pages that were not committed.
package struct AsideFile: Hashable, Sendable, Codable {
  /// The file's absolute path; nil if the system does not tell it.
  package var path: String?
  /// The file's length in bytes.
  package var bytes: Int
  /// The check sum of those bytes; nil if the file could not be read.
  package var checksum: String?
  /// The number, from 0, of the page at which the run continues.
  package var page: Int

  package init(path: String?, bytes: Int, checksum: String?, page: Int) {
    self.path = path
    self.bytes = bytes
    self.checksum = checksum
    self.page = page
  }
}

/// The numbers of items that a listing, or a part of it, has sent and declared. They decide whether
/// items are missing at its end, and are stored with the position because a run may be several
/// calls.
package struct ItemTally: Hashable, Sendable {
  /// The number of items received, including those that were set aside or dropped; nil if unknown.
  package var received: Int?
  /// The number of items the listing has, or has at least, by the latest page that declares one;
  /// nil if none does.
  package var declared: Int?

  /// Creates the tally of a listing that starts.
  package init(received: Int? = 0) { self.received = received }

  /// Counts the items of a page. `total` is the page's declaration; one that counts neither items
  /// nor a lower bound of them clears `declared`. A page with which the listing begins anew starts
  /// the count again; the items that it does not have, because they came before, are received.
  package mutating func add(_ page: Page<some Sendable>, declaring total: Total?) {
    if page.head.beginsAnew {
      let isWhole = !page.head.startsMidway && page.previous == nil
      self = ItemTally(received: isWhole ? page.position.itemOffset : nil)
    }
    received = received.map { $0 + page.traffic.items + page.badItems.count }
    guard let total else { return }
    declared = [.items, .lowerBound].contains(total.kind) ? total.value : nil
  }

  /// The number of items missing at the end of the listing; nil if none is known to be missing.
  package var missing: Int? {
    guard let received, let declared, received < declared else { return nil }
    return declared - received
  }

  /// Creates a tally from a position that contains `members`.
  package init(_ value: JSONValue) {
    (received, declared) = (value["received"]?.integer, value["declared"]?.integer)
  }

  /// The members that a position stores for the tally.
  package var members: [JSONValue.Member] {
    [("received", received), ("declared", declared)].compactMap { name, number in
      number.map { JSONValue.Member(name, .number("\($0)")) }
    }
  }
}

extension Position {
  /// The position and its seal as a JSON value, to be stored inside another position.
  package var sealedJSON: JSONValue {
    get throws { try JSONValue(parsing: try JSONEncoder().encode(self)) }
  }

  /// Creates a position from the JSON value of `sealedJSON`.
  package init(sealedJSON: JSONValue) throws {
    self = try Position(storedJSON: "\(sealedJSON)")
  }
}

/// The number of items missing from the part of a listing that ends with a page, such as the
/// listing of one parent. Page metadata of sources that read several listings, whose totals are not
/// the total of the export.
package struct MissingItems: Sendable {
  package let count: Int
  /// Whether the source itself reads the part from its start in the next run, so that the other
  /// parts are read for what has changed.
  package let isReadAnew: Bool
  /// Why the part was left out; nil for one that ended.
  package let failure: String?

  package init(_ count: Int, isReadAnew: Bool = false, failure: String? = nil) {
    (self.count, self.isReadAnew, self.failure) = (count, isReadAnew, failure)
  }
}

/// The position at which changes begin, as page metadata of sources whose positions differ from
/// those of their pages.
package struct ChangesPlace: Sendable {
  let position: Position

  package init(_ position: Position) { self.position = position }
}

// MARK: - Stored form

extension Checkpoint {
  /// The checkpoint as one line of JSON, without a line end.
  public var bytes: [UInt8] { Seal.checkpoint.seal(Stored(self)) }

  /// Creates a checkpoint from its `bytes`.
  ///
  /// Throws `SinkError` with the code `.damaged` if a byte was changed, and `.unsupported` if a
  /// later version of Quire wrote it in another form.
  public init(bytes: some Sequence<UInt8>) throws(SinkError) {
    self = try Seal.checkpoint.unseal(Stored.self, from: bytes).checkpoint
  }

  /// The stored form of a checkpoint. Optional members are absent if they have their usual value.
  struct Stored: Codable {
    var sequence: Int
    var run: Int
    var start: Position?
    var position: Position?
    var lastItem: String?
    var lastOnPage: String?
    var pages: Int
    var items: Int
    var missing: Int?
    var standing: Int?
    var fellShort: Bool?
    var received: Int?
    var declared: Int?
    var leftOut: LeftOut?
    var aside: AsideFile?
    var listing: [String: String]
    var memory: TaggedJSONValue?

    init(_ checkpoint: Checkpoint) {
      sequence = checkpoint.sequence
      run = checkpoint.run
      start = checkpoint.start == .start ? nil : checkpoint.start
      position = checkpoint.position
      lastItem = checkpoint.lastItem
      lastOnPage = checkpoint.lastOnPage
      pages = checkpoint.pages
      items = checkpoint.items
      missing = checkpoint.missing
      standing = checkpoint.replacedMissing
      fellShort = checkpoint.fellShort ? true : nil
      (received, declared) = (checkpoint.tally.received, checkpoint.tally.declared)
      leftOut = checkpoint.leftOut
      aside = checkpoint.aside
      listing = checkpoint.listing
      memory = checkpoint.memory.map(TaggedJSONValue.init)
    }

    var checkpoint: Checkpoint {
      var checkpoint = Checkpoint(
        sequence: sequence, run: run, start: start ?? .start, listing: listing)
      checkpoint.position = position
      checkpoint.lastItem = lastItem
      checkpoint.lastOnPage = lastOnPage
      checkpoint.pages = pages
      checkpoint.items = items
      checkpoint.missing = missing
      checkpoint.replacedMissing = standing
      checkpoint.fellShort = fellShort ?? false
      (checkpoint.tally.received, checkpoint.tally.declared) = (received, declared)
      checkpoint.leftOut = leftOut
      checkpoint.aside = aside
      checkpoint.memory = memory?.value
      return checkpoint
    }
  }
}
