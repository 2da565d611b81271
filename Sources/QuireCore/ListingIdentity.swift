import Synchronization

/// The identity of a listing: a stored position is valid only in the listing that made it.
///
/// The parts are digests, computed once for each listing, when a position is first stored or
/// compared.
package final class ListingIdentity: Sendable {
  /// A property in which listings can differ.
  package struct Part: Sendable {
    /// The property's name in a stored position.
    package var name: String
    /// A value that is equal where the listings do not differ in the property; empty where a
    /// listing lacks it.
    package var value: String
    /// The property's name in messages.
    package var words: String
    /// Whether the value means something to a reader; a digest does not.
    package var isReadable: Bool

    package init(_ name: String, _ value: String, _ words: String, isReadable: Bool = false) {
      self.name = name
      self.value = value
      self.words = words
      self.isReadable = isReadable
    }
  }

  /// The name of the part that matters only to positions that count pages.
  package static let pageSize = "pageSize"

  /// The identity of a stored position that does not say which listing made it.
  static let unknown = ListingIdentity(parts: [])

  private let make: @Sendable () -> [Part]
  private let made = Mutex<[Part]?>(nil)
  private let countsPages: @Sendable (Position) -> Bool
  /// Whether positions cannot be resumed from once their walk is over, because the walk closes what
  /// the server held for it.
  package let closesWithWalk: Bool
  /// Whether the walk is over.
  let isOver: Bool

  /// Creates an identity whose parts are made when they are first needed. `countsPages` returns
  /// whether a position would mean another place if pages had another size; default: any would.
  package init(
    closesWithWalk: Bool, isOver: Bool = false,
    countsPages: @escaping @Sendable (Position) -> Bool = { _ in true },
    parts: @escaping @Sendable () -> [Part]
  ) {
    make = parts
    self.countsPages = countsPages
    self.closesWithWalk = closesWithWalk
    self.isOver = isOver
  }

  /// Creates the identity that a stored position holds.
  convenience init(parts: [Part], isOver: Bool = false) {
    self.init(closesWithWalk: isOver, isOver: isOver, parts: { parts })
  }

  var parts: [Part] {
    made.withLock { made in
      if let made { return made }
      let parts = make()
      made = parts
      return parts
    }
  }

  /// The identity of the same listing once its walk is over.
  var over: ListingIdentity {
    if isOver || !closesWithWalk { return self }
    return ListingIdentity(
      closesWithWalk: true, isOver: true, countsPages: countsPages, parts: { self.parts })
  }
}

// MARK: - Going on

extension ListingIdentity {
  /// The digests by name, to be stored with the pages that were read of the listing.
  package var digests: [String: String] {
    Dictionary(parts.filter { !$0.value.isEmpty }.map { ($0.name, $0.value) }) { first, _ in first }
  }

  /// Returns the differences between this listing and the one with these digests, in words for a
  /// message; empty if there are none. `position` is the position in question.
  package func differences(from digests: [String: String], at position: Position) -> [String] {
    let parts = digests.sorted { $0.key < $1.key }.map { Part($0.key, $0.value, $0.key) }
    return differences(from: ListingIdentity(parts: parts), at: position)
  }

  /// Returns the reason why a walk over this listing must not begin at `position`; nil if it may.
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

  /// Returns a value from a stored position as a message may show it: itself if it is a short plain
  /// word, "none" if it is empty, else "another".
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
    PageError(
      .positionMismatch,
      """
      The position was made by another listing than this one: they differ in \(differences.listed()). \
      Going on would lose or repeat items. Use it with the listing that made it.
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

  /// The reason why a walk cannot begin at a position whose own walk is over.
  package static let whyNotResumable =
    "what the server held for the walk, such as a scroll or a point in time, is closed when the walk "
    + "ends, and its positions lead nowhere then"

  private static let notResumable = PageError(
    .notResumable,
    "This listing cannot be resumed: \(whyNotResumable).",
    remedies: [Remedy(.position, ["start"])], attempts: 0)
}

extension WalkReport.Warning.Code {
  /// The walk cannot be resumed once it is over, not from any position in its report.
  public static let notResumable = Self("notResumable")
}

extension WalkReport {
  /// Marks a checkpoint that cannot be resumed from once the walk is over, and adds a warning.
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
