public import QuireCore
import QuireHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How far an export has come, to be stored beside the items, in one promise with them.
///
/// It knows its listing, as a `Position` does, so that no other is mixed in, and holds no secret. Stored
/// as `bytes`: JSON with a version and a check sum, in which no byte can change unnoticed.
public struct Checkpoint: Hashable, Sendable {
  /// How many commits there were in this destination, this one included: of two checkpoints, the one
  /// with the greater number is the newer, whatever any clock says.
  public var sequence: Int
  /// Which run of the export this is in its destination, from 1: a complete one may be followed by
  /// another; see `SinkMode`.
  public var run: Int
  /// Where the run began.
  public var start: Position
  /// Where it goes on; nil once it is complete.
  public var position: Position?
  /// Pages of the run up to here.
  public var pages: Int
  /// Items of the run up to here.
  public var items: Int
  /// How many items the server had declared beyond those that came, where parts of the listing, or all of it,
  /// ended with fewer.
  public var missing: Int?
  /// The same of what is there, while a run goes on that is to take its place (`SinkMode.replace`).
  var standing: Int?
  /// Whether the run was to take the place of another, came to the end of its listing, and misses more than
  /// that one: it stays beside it.
  package var fellShort = false
  /// Items of the run that the server has given up to here; none are known where the run did not begin at the start
  /// of its listing.
  package var tally = ItemTally(received: nil)
  /// The digests by which the listing is known; empty where its source cannot tell listings apart.
  public var listing: [String: String]
  /// What later runs need to know, such as the greatest value seen; see `Increment`.
  public var memory: JSONValue?

  /// A checkpoint at the beginning of a run.
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

  /// Whether the run came to the end of its listing.
  public var isComplete: Bool { position == nil }

  /// Whether the next run begins its listing anew: this one is complete, or was to replace a complete one, and
  /// fewer items came than the server had declared. What a sink has beside the destination is dropped then.
  public var isOver: Bool { isComplete || fellShort }
}

/// How many items a listing has given, or a part of it, and how many it was to give: the rule by which exports are
/// judged, and each part of them. It is stored with the place, since no call has to see all pages.
package struct ItemTally: Hashable, Sendable {
  /// Items that came, whatever became of them; nil where that is not known.
  package var received: Int?
  /// How many there are, or are at least, as the last page says that tells; nil where none does.
  package var declared: Int?

  /// At the start of a listing.
  package init(received: Int? = 0) { self.received = received }

  /// Counts a page, which declares so many items.
  package mutating func add(_ page: Page<some Sendable>, declaring total: Total?) {
    received = received.map { $0 + page.traffic.items + page.badItems.count }
    guard let total else { return }
    declared = [.items, .lowerBound].contains(total.kind) ? total.value : nil
  }

  /// How many items are missing at the end of the listing; nil where none is known to be.
  package var missing: Int? {
    guard let received, let declared, received < declared else { return nil }
    return declared - received
  }

  /// Reads what `members` gave to a position.
  package init(_ value: JSONValue) {
    (received, declared) = (value["received"]?.integer, value["declared"]?.integer)
  }

  /// What a position stores of it.
  package var members: [JSONValue.Member] {
    [("received", received), ("declared", declared)].compactMap { name, number in
      number.map { JSONValue.Member(name, .number("\($0)")) }
    }
  }
}

extension Position {
  /// The position with its seal, as it is stored, as a value within another one.
  package var sealedJSON: JSONValue {
    get throws { try JSONValue(parsing: try JSONEncoder().encode(self)) }
  }

  /// Reads what `sealedJSON` wrote.
  package init(sealedJSON: JSONValue) throws {
    self = try JSONDecoder().decode(Position.self, from: Data("\(sealedJSON)".utf8))
  }
}

/// How many items a part of the listing lacks that ends with a page, such as the listing of one parent: totals
/// of parts are not those of all.
package struct MissingItems: Sendable {
  package let count: Int

  package init(_ count: Int) { self.count = count }
}

// MARK: - Stored

extension Checkpoint {
  /// The checkpoint as one line of JSON, without a line end.
  public var bytes: [UInt8] { Seal.checkpoint.close(Stored(self)) }

  /// Reads what `bytes` wrote.
  ///
  /// Throws `SinkError` with the code `.damaged` where a byte is not as it was written, and
  /// `.unsupported` for the form of a later version.
  public init(bytes: some Sequence<UInt8>) throws(SinkError) {
    self = try Seal.checkpoint.open(Stored.self, in: bytes).checkpoint
  }

  /// The members as they are stored.
  struct Stored: Codable {
    var sequence: Int
    var run: Int
    var start: Position?
    var position: Position?
    var pages: Int
    var items: Int
    var missing: Int?
    var standing: Int?
    var fellShort: Bool?
    var received: Int?
    var declared: Int?
    var listing: [String: String]
    var memory: TaggedJSONValue?

    init(_ checkpoint: Checkpoint) {
      sequence = checkpoint.sequence
      run = checkpoint.run
      start = checkpoint.start == .start ? nil : checkpoint.start
      position = checkpoint.position
      pages = checkpoint.pages
      items = checkpoint.items
      missing = checkpoint.missing
      standing = checkpoint.standing
      fellShort = checkpoint.fellShort ? true : nil
      (received, declared) = (checkpoint.tally.received, checkpoint.tally.declared)
      listing = checkpoint.listing
      memory = checkpoint.memory.map(TaggedJSONValue.init)
    }

    var checkpoint: Checkpoint {
      var checkpoint = Checkpoint(
        sequence: sequence, run: run, start: start ?? .start, listing: listing)
      checkpoint.position = position
      checkpoint.pages = pages
      checkpoint.items = items
      checkpoint.missing = missing
      checkpoint.standing = standing
      checkpoint.fellShort = fellShort ?? false
      (checkpoint.tally.received, checkpoint.tally.declared) = (received, declared)
      checkpoint.memory = memory?.value
      return checkpoint
    }
  }
}
