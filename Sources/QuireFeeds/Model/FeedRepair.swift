/// A breach of a format that was forgiven, and how often.
///
/// Strict reading (`FeedOptions.isStrict`) throws `PageError` with code `malformed` instead, for the
/// first of them.
public struct FeedRepair: Hashable, Sendable, CustomStringConvertible {
  /// A kind of breach, by its name. Compare with the constants; new ones may be added.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The name, in lower camel case.
    public let description: String

    init(_ name: String) { description = name }
  }

  /// The kind.
  public let kind: Kind
  /// How often it was found.
  public var count: Int

  /// A breach, found `count` times.
  init(_ kind: Kind, count: Int = 1) {
    self.kind = kind
    self.count = count
  }

  /// `bareAmpersand × 3`.
  public var description: String { count == 1 ? "\(kind)" : "\(kind) × \(count)" }
}

extension FeedRepair.Kind {
  /// An encoding that is no Unicode, though one that is known.
  public static let legacyEncoding = Self("legacyEncoding")
  /// Bytes that are not in the encoding that was declared; in JSON, half a surrogate pair too.
  public static let wrongEncoding = Self("wrongEncoding")
  /// The number of a character in Windows-1252 in the place of Unicode's, such as `&#146;`.
  public static let windowsCharacter = Self("windowsCharacter")
  /// Text before the XML declaration or the root element; white space before the declaration too.
  public static let textBeforeDocument = Self("textBeforeDocument")
  /// Anything behind the end of the root element.
  public static let trailingContent = Self("trailingContent")
  /// Control characters, which XML does not have.
  public static let controlCharacter = Self("controlCharacter")
  /// A named character of HTML, such as `&nbsp;`, that the document does not declare.
  public static let undeclaredEntity = Self("undeclaredEntity")
  /// A reference that means nothing, such as `&foo;` or `&#0;`; kept as text.
  public static let unknownEntity = Self("unknownEntity")
  /// An `&` that begins no reference.
  public static let bareAmpersand = Self("bareAmpersand")
  /// A `<` that begins no tag, in text or in an attribute.
  public static let bareLessThan = Self("bareLessThan")
  /// `]]>` in text.
  public static let sectionEnd = Self("sectionEnd")
  /// An element that was not closed before the one around it.
  public static let unclosedElement = Self("unclosedElement")
  /// An end tag without an element.
  public static let strayEndTag = Self("strayEndTag")
  /// An attribute without quotes or without value, or twice in one tag.
  public static let badAttribute = Self("badAttribute")
  /// A namespace of the root that no format has; its name tells the format.
  public static let unknownNamespace = Self("unknownNamespace")
  /// A prefix without a namespace.
  public static let undeclaredPrefix = Self("undeclaredPrefix")
  /// The end tags at the very end are missing, and every entry is whole.
  public static let missingEnd = Self("missingEnd")
  /// Something else that XML does not allow, such as `--` in a comment; left out.
  public static let badMarkup = Self("badMarkup")
  /// Markup where the format wants plain text, or elements where it wants escaped markup.
  public static let markupInText = Self("markupInText")
  /// A date that is not as its format writes dates, and can be read.
  public static let unusualDate = Self("unusualDate")
  /// A date that cannot be read; it is nil.
  public static let unreadableDate = Self("unreadableDate")
  /// A member of JSON Feed that is of another type, such as an id that is a number.
  public static let wrongType = Self("wrongType")
  /// An address that is none; it is left out.
  public static let badAddress = Self("badAddress")
}

/// Counts repairs, in the order in which they were first needed.
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
}
