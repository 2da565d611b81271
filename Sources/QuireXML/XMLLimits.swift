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
  /// Bytes of text between two tags. Default 8 MiB.
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
