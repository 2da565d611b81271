#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A kind of violation of a format that was repaired, and the number of its occurrences.
///
/// Strict reading (`FeedOptions.isStrict`) throws `PageError` with code `malformed` at the first
/// violation instead.
public struct FeedRepair: Hashable, Sendable, CustomStringConvertible {
  /// A kind of violation, by name. Compare kinds with the constants, to which later versions may
  /// add.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The name, in lower camel case.
    public let description: String

    init(_ name: String) { description = name }
  }

  /// The kind.
  public let kind: Kind
  /// The number of occurrences.
  public var count: Int

  init(_ kind: Kind, count: Int = 1) {
    self.kind = kind
    self.count = count
  }

  /// The kind, and the count if it is not 1: `bareAmpersand × 3`.
  public var description: String { count == 1 ? "\(kind)" : "\(kind) × \(count)" }
}

extension FeedRepair.Kind {
  /// A known encoding other than Unicode.
  public static let legacyEncoding = Self("legacyEncoding")
  /// Bytes that are invalid in the declared encoding; in JSON also half a surrogate pair.
  public static let wrongEncoding = Self("wrongEncoding")
  /// A character reference by its number in Windows-1252 instead of Unicode, such as `&#146;`.
  public static let windowsCharacter = Self("windowsCharacter")
  /// Text before the XML declaration or the root element; white space before the declaration too.
  public static let textBeforeDocument = Self("textBeforeDocument")
  /// Content after the end of the root element.
  public static let trailingContent = Self("trailingContent")
  /// Control characters, which XML does not allow and which are removed from JSON too.
  public static let controlCharacter = Self("controlCharacter")
  /// A named HTML character, such as `&nbsp;`, that the document does not declare.
  public static let undeclaredEntity = Self("undeclaredEntity")
  /// An undefined reference, such as `&foo;` or `&#0;`; kept as text.
  public static let unknownEntity = Self("unknownEntity")
  /// An `&` that does not begin a reference.
  public static let bareAmpersand = Self("bareAmpersand")
  /// A `<` that does not begin a tag, in text or in an attribute.
  public static let bareLessThan = Self("bareLessThan")
  /// `]]>` in text.
  public static let sectionEnd = Self("sectionEnd")
  /// An element that was not closed before its parent.
  public static let unclosedElement = Self("unclosedElement")
  /// An end tag without an element.
  public static let strayEndTag = Self("strayEndTag")
  /// An attribute without quotes, without a value, or repeated in its tag.
  public static let badAttribute = Self("badAttribute")
  /// A root element in an unknown namespace, whose name alone identifies the format; or entries in
  /// the namespace of something else, which their name alone identifies.
  public static let unknownNamespace = Self("unknownNamespace")
  /// An entry elsewhere than its format says: in another element of the feed, or in another entry.
  public static let misplacedEntry = Self("misplacedEntry")
  /// An identifier or date of an entry that has one already.
  public static let repeatedElement = Self("repeatedElement")
  /// An entry of Atom without an identifier; counted only by strict reading, which refuses it.
  public static let missingIdentifier = Self("missingIdentifier")
  /// A prefix without a namespace.
  public static let undeclaredPrefix = Self("undeclaredPrefix")
  /// Missing end tags at the end of a document whose entries are all complete.
  public static let missingEnd = Self("missingEnd")
  /// Other markup that XML does not allow, such as `--` in a comment; removed.
  public static let badMarkup = Self("badMarkup")
  /// Markup where the format requires plain text, or elements where it requires escaped markup.
  public static let markupInText = Self("markupInText")
  /// A readable date that is not in the form that its format requires.
  public static let unusualDate = Self("unusualDate")
  /// An unreadable date, or the first second of 1970, which programs write for a missing date; nil.
  public static let unreadableDate = Self("unreadableDate")
  /// A JSON Feed member of the wrong type, such as an id that is a number.
  public static let wrongType = Self("wrongType")
  /// A comma after the last element of an array or object of JSON.
  public static let strayComma = Self("strayComma")
  /// An invalid address, which is omitted.
  public static let badAddress = Self("badAddress")
}

/// Counts repairs by kind, in the order of their first occurrence.
struct RepairTally: Hashable, Sendable {
  private(set) var repairs: [FeedRepair] = []

  mutating func add(_ kind: FeedRepair.Kind, _ count: Int = 1) {
    guard count > 0 else { return }
    if let index = repairs.firstIndex(where: { $0.kind == kind }) {
      repairs[index].count += count
    } else {
      repairs.append(FeedRepair(kind, count: count))
    }
  }

  mutating func add(_ others: [FeedRepair]) {
    for other in others { add(other.kind, other.count) }
  }

  /// Parses a publisher's date. An unreadable date, and the first second of 1970, which programs
  /// write for a missing date, are nil and count as a repair; so does a date that is not in the form
  /// of `style`.
  mutating func date(_ text: String, as style: FeedDateReader.Style) -> Date? {
    guard let found = FeedDateReader.read(text, as: style), found.seconds != 0 else {
      add(.unreadableDate)
      return nil
    }
    if !found.isProper { add(.unusualDate) }
    return found.date
  }
}
