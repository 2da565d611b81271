#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How the elements of a page become types of yours.
///
/// A key names a child element, the first of several, or, where there is none, an attribute; `@name`
/// names an attribute only. Names match local names with any prefix; a key `dc:title` matches the
/// namespace that `namespaces` gives for `dc`, or else the name as the page writes it. Elements of one
/// name become an array, one or none of them too. `#text` is an element's own text.
///
/// Text stays as it is in a `String`, and is read without white space around it as anything else. An
/// element without attributes and content counts as nil where a value is optional, and so does one
/// marked `xsi:nil`.
public struct XMLDecodingOptions: Sendable {
  /// How a coding key becomes a name.
  public enum KeyStrategy: Sendable {
    /// As it is.
    case exact
    /// With its first letter upper case: `lastModified` names `LastModified`.
    case capitalized
    /// As the closure says.
    case custom(@Sendable (String) -> String)
  }

  /// How text becomes a date.
  public enum DateStrategy: Sendable {
    /// `2025-03-01T12:00:00Z`, with fractions of a second or an offset, or only the date; in UTC
    /// where nothing is said (XML Schema part 2, sections 3.2.7 and 3.2.9; RFC 3339).
    case iso8601
    /// A number of seconds.
    case secondsSince1970
    /// As the closure reads it.
    case custom(@Sendable (String) throws -> Date)
  }

  /// How text becomes data.
  public enum DataStrategy: Sendable {
    /// Base 64; white space in it is ignored.
    case base64
    /// As the closure reads it.
    case custom(@Sendable (String) throws -> Data)
  }

  /// Default `exact`.
  public var keys: KeyStrategy
  /// The namespace of each prefix that keys use. Default: none.
  public var namespaces: [String: String]
  /// The key of an element's own text. Default `#text`.
  public var textKey: String
  /// Default `iso8601`.
  public var dates: DateStrategy
  /// Default `base64`.
  public var data: DataStrategy
  /// Whether an empty element is nil where a value is optional; otherwise it is an empty string.
  /// Default true.
  public var emptyIsNil: Bool
  /// What types find in their decoder's `userInfo`. Default: nothing.
  public var userInfo: [CodingUserInfoKey: any Sendable]

  /// Options; every parameter has the default of its property.
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

/// What a decoder forgives in a page that is not well-formed XML 1.0, or not in Unicode.
///
/// An API is read without any: what its server did not mean to write must not become data. Feeds
/// are written by hand and by templates; a page that needed leniency says so in
/// `XMLDocument.repairs`.
public struct XMLLeniency: OptionSet, Hashable, Sendable {
  /// One bit for each kind.
  public let rawValue: Int

  /// A set of kinds by their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Encodings other than UTF-8, UTF-16 and US-ASCII, out of a list of about thirty.
  public static let legacyEncodings = XMLLeniency(rawValue: 1 << 0)
  /// At most 64 bytes of white space before the XML declaration.
  public static let leadingWhiteSpace = XMLLeniency(rawValue: 1 << 1)
  /// Anything behind the end of the root element.
  public static let trailingContent = XMLLeniency(rawValue: 1 << 2)
  /// Control characters that XML does not have; they are left out.
  public static let controlCharacters = XMLLeniency(rawValue: 1 << 3)
  /// The named characters of HTML 4, such as `&nbsp;` and `&eacute;`.
  public static let namedCharacters = XMLLeniency(rawValue: 1 << 4)
  /// A wrong name for the encoding, the commonest mistake of all: what says UTF-8 or US-ASCII and turns
  /// out not to be is read as windows-1252 where it is no UTF-8, byte by byte, and what says windows-1252 or
  /// ISO-8859-1 likewise if it begins as UTF-8.
  public static let mislabelledEncodings = XMLLeniency(rawValue: 1 << 5)

  /// Everything above.
  public static let feed = XMLLeniency(all).subtracting(.invalidBytes)

  /// In encodings other than Unicode's and windows-1252, bytes that are none of theirs; they become U+FFFD.
  package static let invalidBytes = XMLLeniency(rawValue: 1 << 6)

  /// Each of them.
  static let all: [XMLLeniency] = [
    .legacyEncodings, .leadingWhiteSpace, .trailingContent, .controlCharacters, .namedCharacters,
    .mislabelledEncodings, .invalidBytes,
  ]
}

/// What one page of XML may hold, beyond `DecodingLimits`. Every limit throws `limitExceeded`,
/// naming itself and the place.
///
/// They bound what libxml2 itself does not: it checks attributes and declared namespaces against
/// each other, so that time would grow with their square.
public struct XMLLimits: Hashable, Sendable {
  /// Attributes and namespace declarations of one element. Default 256.
  public var attributes: Int
  /// Namespace declarations in scope at one place. Default 256.
  public var namespaces: Int
  /// Bytes of one tag. Default 64 KiB.
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

  /// Limits; every parameter has the default of its property.
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

  /// For an API that is trusted to mean well.
  public static let api = XMLLimits()
}
