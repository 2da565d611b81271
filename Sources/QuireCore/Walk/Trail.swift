/// What a position remembers of the pages that led to it, so that a walk that goes on from there, in
/// another process, too, finds that the listing goes in circles.
///
/// One place and one content are remembered, and replaced after 1, 2, 4, 8… pages, so that a cycle
/// of any length is found within a few rounds, however short the walks are. Source: R. P. Brent, "An
/// improved Monte Carlo factorization algorithm" (1980). The trail depends on the pages alone, not
/// on where walks began.
package final class Trail: Sendable {
  /// A digest that is remembered.
  struct Mark: Hashable, Sendable {
    let digest: UInt64
    /// The number of pages since the one with the digest.
    var steps = 0
    /// The number of pages after which another one is remembered.
    var patience = 1
    /// How often the digest came again.
    var returns = 0

    init(_ digest: UInt64) { self.digest = digest }

    /// Whether the next page is remembered in place of this one.
    var isDue: Bool { steps + 1 >= patience }

    /// Returns the mark after another page, for which `digest` is made only if it is remembered.
    func passing(_ digest: () -> UInt64, mostPatience: Int) -> Mark {
      guard isDue else {
        var mark = self
        mark.steps += 1
        return mark
      }
      var mark = Mark(digest())
      mark.patience = min(patience * 2, mostPatience)
      return mark
    }

    /// Returns the mark after a page with its own digest.
    var returning: Mark {
      var mark = self
      (mark.steps, mark.returns) = (0, min(returns + 1, 9))
      return mark
    }
  }

  /// The place of an earlier page.
  let place: Mark?
  /// The content of an earlier page with items.
  let content: Mark?
  /// The page that comes next, if it was refused because it repeated an earlier one: a walk that goes
  /// on refuses the same page again. By its content, and by the identities of its items, which stay
  /// when their ages and times change.
  let refused: Refusal

  /// What is known of a page that was refused.
  struct Refusal: Hashable, Sendable {
    var content: UInt64?
    var identity: UInt64?

    init(of fingerprint: Int? = nil, identity: UInt64? = nil) {
      content = fingerprint.map { Trail.digest(of: $0) }
      self.identity = identity
    }
  }
  /// The totals that the pages declared.
  package let declared: Declared
  /// The format of the pages, as `PageHead.form`.
  package let form: String?

  init(
    place: Mark? = nil, content: Mark? = nil, refused: Refusal = Refusal(),
    declared: Declared = Declared(), form: String? = nil
  ) {
    self.place = place
    self.content = content
    self.refused = refused
    self.declared = declared
    self.form = form
  }

  /// The totals of earlier pages that the later ones are compared with, and what came.
  package struct Declared: Hashable, Sendable {
    /// The first number of items.
    package fileprivate(set) var items: Int?
    /// The greatest number of pages.
    package fileprivate(set) var pages: Int?
    /// The number of pages with items that came since the start of the listing; nil if unknown.
    var filledPages: Int?

    /// Notes the total of a page.
    mutating func note(_ total: Total?) {
      switch total?.kind {
      case .items: items = items ?? total?.value
      case .pages: pages = max(pages ?? 0, total?.value ?? 0)
      default: break
      }
    }
  }

  /// The longest time for which a place is remembered.
  private static let mostPatience = 1 << 60

  /// Returns the trail after a page. `place` makes the digest of its place, if places are to be
  /// remembered. `content` is the fingerprint of its items, if they are to be remembered, and
  /// contents are compared over at most `pages` pages. `declared` are the totals so far, and `form`
  /// is the page's format.
  func passing(
    remembersPlaces: Bool = true, place: () -> UInt64, content fingerprint: Int?, within pages: Int,
    declared: Declared = Declared(), form: String? = nil
  ) -> Trail {
    var newPlace = self.place
    if remembersPlaces {
      newPlace = newPlace?.passing(place, mostPatience: Self.mostPatience) ?? Mark(place())
    }
    var newContent = content
    if let fingerprint, pages > 0 {
      let digest = Self.digest(of: fingerprint)
      if let known = content {
        newContent =
          known.digest == digest
          ? known.returning : known.passing({ digest }, mostPatience: pages)
      } else {
        newContent = Mark(digest)
      }
    }
    return Trail(
      place: newPlace, content: newContent, declared: declared, form: form ?? self.form)
  }

  /// Returns the trail at the same place, where a page was refused.
  func refusing(_ page: Refusal) -> Trail {
    Trail(place: place, content: content, refused: page, declared: declared, form: form)
  }

  /// Returns the trail at the same place, which is one that the listing came to `length` pages ago.
  func returning(to place: UInt64, after length: Int) -> Trail {
    var mark = Mark(place)
    (mark.steps, mark.patience) = (max(0, length - 1), max(1, length))
    return Trail(place: mark, content: content, refused: refused, declared: declared, form: form)
  }

  /// Whether the page was refused at this place.
  func refuses(_ fingerprint: Int?, identity: () -> UInt64?) -> Bool {
    guard refused != Refusal() else { return false }
    if let content = refused.content, let fingerprint, content == Self.digest(of: fingerprint) {
      return true
    }
    return refused.identity.map { $0 == identity() } ?? false
  }

  /// Returns the number of pages since the same items came, if they come at least for the third
  /// time.
  ///
  /// Once, a listing may have moved by exactly a page between two walks.
  func distance(toContent fingerprint: Int) -> Int? {
    guard let content, content.returns > 0, content.digest == Self.digest(of: fingerprint)
    else { return nil }
    return content.steps + 1
  }

  private static func digest(of fingerprint: Int) -> UInt64 {
    UInt64(bitPattern: Int64(fingerprint))
  }
}

// MARK: - Stored form

extension Trail {
  /// The trail as text: the version of the form, the place and the content, and then what there is
  /// of the refused content (`r`) and identity (`d`), the number of items (`i`), the number of
  /// pages (`p`), the number of pages that came (`n`) and the format (`f`).
  package var text: String {
    let rest: [String?] = [
      refused.content.map { "r" + String($0, radix: 16) },
      refused.identity.map { "d" + String($0, radix: 16) }, declared.items.map { "i\($0)" },
      declared.pages.map { "p\($0)" },
      declared.pages.flatMap { _ in declared.filledPages.map { "n\($0)" } },
      form.map { "f\($0)" },
    ]
    return (["1", Self.text(of: place), Self.text(of: content)] + rest.compactMap(\.self))
      .joined(separator: " ")
  }

  /// Creates a trail from its `text`; nil for any other text, such as that of a later version.
  convenience init?(_ text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count > 2, parts[0] == "1" else { return nil }
    var refused = Refusal()
    var declared = Declared()
    var form: String?
    for part in parts.dropFirst(3) {
      switch part.first {
      case "r"?: refused.content = UInt64(part.dropFirst(), radix: 16)
      case "d"?: refused.identity = UInt64(part.dropFirst(), radix: 16)
      case "i"?: declared.items = Int(part.dropFirst())
      case "p"?: declared.pages = Int(part.dropFirst())
      case "n"?: declared.filledPages = Int(part.dropFirst())
      case "f"?: form = String(part.dropFirst())
      default: return nil
      }
    }
    self.init(
      place: Self.mark(in: parts[1]), content: Self.mark(in: parts[2]), refused: refused,
      declared: declared, form: form)
  }

  private static func text(of mark: Mark?) -> String {
    guard let mark else { return "-" }
    return "\(String(mark.digest, radix: 16)).\(mark.steps).\(mark.patience).\(mark.returns)"
  }

  private static func mark(in text: Substring) -> Mark? {
    let parts = text.split(separator: ".")
    guard parts.count == 4, let digest = UInt64(parts[0], radix: 16), let steps = Int(parts[1]),
      let patience = Int(parts[2]), let returns = Int(parts[3]), patience <= mostPatience,
      steps >= 0, steps < patience, returns >= 0
    else { return nil }
    var mark = Mark(digest)
    (mark.steps, mark.patience, mark.returns) = (steps, patience, returns)
    return mark
  }
}

extension Position {
  /// A digest of the place, the same in every process.
  package var digest: UInt64 { MergeDigest(value?.description ?? "").value }
}
