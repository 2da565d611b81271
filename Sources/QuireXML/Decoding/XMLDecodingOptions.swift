#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The settings by which elements of a page are decoded into your types.
///
/// A key names a child element, the first of several, or, if there is none, an attribute; `@name`
/// names an attribute only. Names match local names with any prefix; a key `dc:title` matches the
/// namespace that `namespaces` gives for `dc`, or else the name as the page writes it. All elements
/// of one name, be it one or none, decode as an array. `#text` is an element's own text.
///
/// A `String` has its text unchanged; any other type is read without the white space around it. An
/// element without attributes and content is nil where a value is optional, and so is one marked
/// `xsi:nil`.
public struct XMLDecodingOptions: Sendable {
  /// The conversion of a coding key to a name in the page.
  public enum KeyStrategy: Sendable {
    /// The key is the name.
    case exact
    /// The first letter becomes upper case: `lastModified` names `LastModified`.
    case capitalized
    /// The closure returns the name for a key.
    case custom(@Sendable (String) -> String)
  }

  /// The form of dates in the page.
  public enum DateStrategy: Sendable {
    /// `2025-03-01T12:00:00Z`, with fractions of a second or an offset, or only the date; without
    /// an offset in UTC (XML Schema part 2, sections 3.2.7 and 3.2.9; RFC 3339).
    case iso8601
    /// A number of seconds since 1970, which may have a fraction.
    case secondsSince1970
    /// The closure reads the text, without the white space around it.
    case custom(@Sendable (String) throws -> Date)
  }

  /// The form of binary data in the page.
  public enum DataStrategy: Sendable {
    /// Base64; white space in it is ignored.
    case base64
    /// The closure reads the text, with its white space.
    case custom(@Sendable (String) throws -> Data)
  }

  /// The conversion of keys to names. Default `exact`.
  public var keys: KeyStrategy
  /// The namespace URI of each prefix that keys use. Default: none.
  public var namespaces: [String: String]
  /// The key of an element's own text. Default `#text`.
  public var textKey: String
  /// The form of dates. Default `iso8601`.
  public var dates: DateStrategy
  /// The form of binary data. Default `base64`.
  public var data: DataStrategy
  /// Whether an empty element is nil where a value is optional. If false, it is an empty string.
  /// Default true.
  public var emptyIsNil: Bool
  /// The `userInfo` of the decoder that types get. Default: empty.
  public var userInfo: [CodingUserInfoKey: any Sendable]

  /// Creates options; every parameter has the default of its property.
  public init(
    keys: KeyStrategy = .exact, namespaces: [String: String] = [:], textKey: String = "#text",
    dates: DateStrategy = .iso8601, data: DataStrategy = .base64, emptyIsNil: Bool = true,
    userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) {
    self.keys = keys
    self.namespaces = namespaces
    self.textKey = textKey
    self.dates = dates
    self.data = data
    self.emptyIsNil = emptyIsNil
    self.userInfo = userInfo
  }
}

/// The breaches of XML 1.0 and of encodings that a decoder accepts in a page.
///
/// APIs are read without leniency, so that a server's mistake does not become data. Feeds need it,
/// because they are written by hand and by templates. `XMLDocument.repairs` has the breaches that
/// were found in a page.
public struct XMLLeniency: OptionSet, Hashable, Sendable {
  /// The kinds of breaches, one bit each.
  public let rawValue: Int

  /// Creates a set of kinds from their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// About thirty encodings other than UTF-8, UTF-16 and US-ASCII.
  public static let legacyEncodings = XMLLeniency(rawValue: 1 << 0)
  /// At most 64 bytes of white space before the XML declaration.
  public static let leadingWhiteSpace = XMLLeniency(rawValue: 1 << 1)
  /// Any content after the end of the root element.
  public static let trailingContent = XMLLeniency(rawValue: 1 << 2)
  /// Control characters that XML does not allow; they are removed.
  public static let controlCharacters = XMLLeniency(rawValue: 1 << 3)
  /// The named characters of HTML 4, such as `&nbsp;` and `&eacute;`.
  public static let namedCharacters = XMLLeniency(rawValue: 1 << 4)
  /// A wrong name for the encoding, the most common breach. A page labelled UTF-8 or US-ASCII is
  /// read as UTF-8, with each invalid byte as windows-1252; so is a page labelled windows-1252 or
  /// ISO-8859-1 whose first bytes beyond ASCII are UTF-8. A page that is UTF-8 only by its
  /// Content-Type is read as it declares itself, if its first bytes beyond ASCII are no UTF-8 and
  /// `legacyEncodings` allows that encoding.
  public static let mislabelledEncodings = XMLLeniency(rawValue: 1 << 5)

  /// All kinds above, for feeds.
  public static let feed = XMLLeniency(all).subtracting(.invalidBytes)

  /// Bytes that are invalid in an encoding other than Unicode's and windows-1252; they become
  /// U+FFFD.
  package static let invalidBytes = XMLLeniency(rawValue: 1 << 6)

  /// All kinds, in the order of their bits.
  static let all: [XMLLeniency] = [
    .legacyEncodings, .leadingWhiteSpace, .trailingContent, .controlCharacters, .namedCharacters,
    .mislabelledEncodings, .invalidBytes,
  ]
}

/// The limits for one page of XML, in addition to `DecodingLimits`. Exceeding one throws
/// `limitExceeded` with the name of the limit and the place.
///
/// libxml2 itself does not limit these. It compares the attributes and namespace declarations of an
/// element pairwise, so that without limits its time would be quadratic.
public struct XMLLimits: Hashable, Sendable {
  /// Attributes and namespace declarations of one element. Default 256.
  public var attributes: Int
  /// Namespace declarations in scope at one place. Default 256.
  public var namespaces: Int
  /// Bytes of one tag; 4 KiB are always allowed. Default 64 KiB.
  public var tagBytes: Int
  /// Bytes of one comment or processing instruction; both are skipped. Default 1 MiB.
  public var commentBytes: Int
  /// Bytes of a document type declaration, which may declare neither entities nor default values.
  /// Default 4 KiB.
  public var doctypeBytes: Int
  /// Bytes of all distinct names, prefixes and namespaces together. Default 256 KiB.
  public var nameBytes: Int
  /// Bytes of text between two tags, as it is written. Default 8 MiB.
  public var textBytes: Int

  /// Creates limits; every parameter has the default of its property.
  public init(
    attributes: Int = 256, namespaces: Int = 256, tagBytes: Int = 64 << 10,
    commentBytes: Int = 1 << 20, doctypeBytes: Int = 4 << 10, nameBytes: Int = 256 << 10,
    textBytes: Int = 8 << 20
  ) {
    self.attributes = attributes
    self.namespaces = namespaces
    self.tagBytes = tagBytes
    self.commentBytes = commentBytes
    self.doctypeBytes = doctypeBytes
    self.nameBytes = nameBytes
    self.textBytes = textBytes
  }

  /// The default limits, for an API that is not expected to be hostile.
  public static let api = XMLLimits()
}
