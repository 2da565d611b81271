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
  /// out not to be is read as windows-1252 from there on, and what says windows-1252 or ISO-8859-1 is
  /// read as UTF-8 for as long as it is.
  public static let mislabelledEncodings = XMLLeniency(rawValue: 1 << 5)

  /// Everything above.
  public static let feed: XMLLeniency = [
    .legacyEncodings, .leadingWhiteSpace, .trailingContent, .controlCharacters, .namedCharacters,
    .mislabelledEncodings,
  ]
}
