import Synchronization

/// What tells one listing from another: a stored position is a place in the listing that made it, and
/// in no other.
///
/// The parts are digests, made when a position is stored or compared, once for each listing.
package final class ListingIdentity: Sendable {
  /// One thing that listings differ in.
  package struct Part: Sendable {
    /// What it is called in a stored position.
    package var name: String
    /// Equal where the listings do not differ in it; empty where there is no such thing.
    package var value: String
    /// What messages call it.
    package var words: String
    /// Whether the value says something to a reader; a digest does not.
    package var isReadable: Bool

    package init(_ name: String, _ value: String, _ words: String, isReadable: Bool = false) {
      self.name = name
      self.value = value
      self.words = words
      self.isReadable = isReadable
    }
  }

  /// The name of the part that matters only where pages are counted.
  package static let pageSize = "pageSize"

  /// Of a position that was read, and does not say which listing made it.
  static let unknown = ListingIdentity(parts: [])

  private let make: @Sendable () -> [Part]
  private let made = Mutex<[Part]?>(nil)
  private let countsPages: @Sendable (Position) -> Bool
  /// Whether a position leads nowhere once its walk is over, because the walk closes what the server
  /// held for it.
  package let closesWithWalk: Bool
  /// Whether the walk is over.
  let isOver: Bool

  /// An identity whose parts are made when they are needed; `countsPages` says whether a position
  /// means another place where pages have another size.
  package init(
    closesWithWalk: Bool, countsPages: @escaping @Sendable (Position) -> Bool,
    parts: @escaping @Sendable () -> [Part]
  ) {
    make = parts
    self.countsPages = countsPages
    self.closesWithWalk = closesWithWalk
    isOver = false
  }

  /// An identity as a stored position has it.
  init(parts: [Part], isOver: Bool = false) {
    make = { parts }
    countsPages = { _ in true }
    closesWithWalk = isOver
    self.isOver = isOver
  }

  /// The same listing, of which the walk is over.
  private init(after listing: ListingIdentity) {
    make = { listing.parts }
    countsPages = listing.countsPages
    closesWithWalk = true
    isOver = true
  }

  var parts: [Part] {
    made.withLock { made in
      if let made { return made }
      let parts = make()
      made = parts
      return parts
    }
  }

  var over: ListingIdentity { isOver || !closesWithWalk ? self : ListingIdentity(after: self) }
}

// MARK: - Going on

extension ListingIdentity {
  /// The digests by their names, to be kept beside what was read of the listing.
  package var digests: [String: String] {
    Dictionary(parts.filter { !$0.value.isEmpty }.map { ($0.name, $0.value) }) { first, _ in first }
  }

  /// What this listing differs in from the one with these digests, in words for a message; `position`
  /// is the place in question. Empty where they are one.
  package func differences(from digests: [String: String], at position: Position) -> [String] {
    let parts = digests.sorted { $0.key < $1.key }.map { Part($0.key, $0.value, $0.key) }
    return differences(from: ListingIdentity(parts: parts), at: position)
  }

  /// Why a walk over this listing must not begin at `position`; nil where it may.
  package func objection(to position: Position) -> PageError? {
    guard position != .start, let other = position.listing else { return nil }
    if other.isOver { return Self.notResumable }
    if other === self { return nil }
    if other.parts.isEmpty { return Self.unsealed }
    let differences = differences(from: other, at: position)
    return differences.isEmpty ? nil : Self.mismatch(differences)
  }

  private func differences(from other: ListingIdentity, at position: Position) -> [String] {
    let theirs = other.parts
    var words: [String] = []
    for part in parts where part.name != Self.pageSize || countsPages(position) {
      let value = theirs.first { $0.name == part.name }?.value ?? ""
      guard value != part.value else { continue }
      words.append(
        part.words
          + (part.isReadable
            ? " (\(Self.shown(value)) then, \(Self.shown(part.value)) now)" : ""))
    }
    for part in theirs where !parts.contains(where: { $0.name == part.name }) {
      words.append("what it calls \(Self.shown(part.name))")
    }
    return words
  }

  /// A text out of a stored position, if it is a plain word.
  private static func shown(_ text: String) -> String {
    if text.isEmpty { return "none" }
    let isPlain =
      text.utf8.count <= 20
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
      }
    return isPlain ? text : "another"
  }

  private static func mismatch(_ differences: [String]) -> PageError {
    let list =
      differences.count < 2
      ? differences.joined()
      : differences.dropLast().joined(separator: ", ") + " and "
        + differences[differences.count - 1]
    return PageError(
      .positionMismatch,
      """
      The position was made by another listing than this one: they differ in \(list). Going on would \
      lose or repeat items. Use it with the listing that made it.
      """, remedies: startRemedies, attempts: 0)
  }

  private static let unsealed = PageError(
    .positionMismatch,
    """
    The position does not say which listing made it, as one that was written by hand or by an \
    earlier version. Whether it is a place in this listing cannot be known.
    """, remedies: startRemedies, attempts: 0)

  private static let startRemedies = [
    Remedy(.position, ["start"]),
    Remedy(.position, ["unchecked"], condition: "if you know that it fits all the same"),
  ]

  /// Why a position of a walk that is over leads nowhere.
  package static let whyNotResumable =
    "what the server held for the walk, such as a scroll or a point in time, is closed when the walk "
    + "ends, and its positions lead nowhere then"

  private static let notResumable = PageError(
    .notResumable,
    "This listing cannot be resumed: \(whyNotResumable).",
    remedies: [Remedy(.position, ["start"])], attempts: 0)
}

extension WalkReport.Warning.Code {
  /// The walk cannot be resumed once it is over: its report has no position that leads anywhere.
  public static let notResumable = Self("notResumable")
}

extension WalkReport {
  /// Marks a checkpoint that leads nowhere once the walk is over, and says so.
  mutating func markCheckpoint() {
    guard let position = checkpoint?.afterWalk, position.isOver else { return }
    checkpoint = position
    warn([
      Warning(
        .notResumable,
        "This listing cannot be resumed: \(ListingIdentity.whyNotResumable). To get the rest, begin "
          + "at the start.")
    ])
  }
}
