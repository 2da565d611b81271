public import QuireCore

/// The document of a page that has no structure to ask, such as CSV or raw bytes.
public struct EmptyDocument: PageDocument {
  /// A document without anything.
  public init() {}
  /// Nil.
  public func value(at path: PagePath) -> JSONValue? { nil }
  /// Nil.
  public func count(at path: PagePath) -> Int? { nil }
  /// Nil.
  public func value(at path: PagePath, inLastItemOf items: ItemSelector) -> JSONValue? { nil }
}
