#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How the elements of a page become types of yours.
///
/// A key names a child element or, where there is none, an attribute; `@name` names an attribute
/// only. Names match local names whatever their prefix; a key `dc:title` matches the namespace that
/// `namespaces` gives for `dc`, or else the name as the page writes it. Elements of one name become
/// an array, one or none of them too. `#text` is an element's own text.
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

  /// Options; every parameter has the default of its property.
  public init(
    keys: KeyStrategy = .exact, namespaces: [String: String] = [:], textKey: String = "#text",
    dates: DateStrategy = .iso8601, data: DataStrategy = .base64, emptyIsNil: Bool = true
  ) {
    self.keys = keys
    self.namespaces = namespaces
    self.textKey = textKey
    self.dates = dates
    self.data = data
    self.emptyIsNil = emptyIsNil
  }
}
