public import QuireCore

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
  /// Pages and items of the run up to here.
  public var pages: Int
  public var items: Int
  /// How many items the server had declared beyond those that came, where the run ended with fewer.
  public var missing: Int?
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
}

// MARK: - Stored

/// `{"quire":1,"sum":"1a2b3c4d","checkpoint":{…}}`: the sum is the CRC-32C of what stands between the
/// last colon of the head and the last brace.
extension Checkpoint {
  /// The form written here.
  private static let version = 1

  /// The checkpoint as one line of JSON, without a line end.
  public var bytes: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // It holds nothing that an encoder could refuse.
    let body = (try? encoder.encode(Stored(self))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return Array("\(Self.head(version: Self.version, sum: Self.sum(body)))\(body)}".utf8)
  }

  /// Reads what `bytes` wrote.
  ///
  /// Throws `SinkError` with the code `.damaged` where a byte is not as it was written, and
  /// `.unsupported` for the form of a later version.
  public init(bytes: some Sequence<UInt8>) throws(SinkError) {
    let text = String(decoding: Array(bytes), as: UTF8.self)
    let mark = "\"checkpoint\":"
    guard text.hasPrefix("{\"quire\":"), let place = text.firstRange(of: mark), text.hasSuffix("}")
    else { throw Self.damaged }
    let body = String(text[place.upperBound...].dropLast())
    let version = text.dropFirst(9).prefix { $0.isASCII && $0.isNumber }
    guard let version = Int(version),
      text[..<place.upperBound] == Self.head(version: version, sum: Self.sum(body))
    else { throw Self.damaged }
    guard version == Self.version else {
      throw SinkError(
        .unsupported,
        "The checkpoint has the form \(version), and this version of Quire reads the form "
          + "\(Self.version). Go on with the version that wrote it, or begin anew.")
    }
    do {
      self = try JSONDecoder().decode(Stored.self, from: Data(body.utf8)).checkpoint
    } catch {
      throw Self.damaged
    }
  }

  private static func head(version: Int, sum: String) -> String {
    "{\"quire\":\(version),\"sum\":\"\(sum)\",\"checkpoint\":"
  }

  private static func sum(_ body: String) -> String {
    var check = CyclicCheck()
    check.add(body)
    return check.text
  }

  private static var damaged: SinkError {
    SinkError(
      .damaged,
      "The checkpoint is damaged: its check sum does not fit. Begin anew, or restore it from a copy."
    )
  }

  /// The members as they are stored.
  private struct Stored: Codable {
    var sequence: Int
    var run: Int
    var start: Position?
    var position: Position?
    var pages: Int
    var items: Int
    var missing: Int?
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
      checkpoint.memory = memory?.value
      return checkpoint
    }
  }
}
