public import QuireCore

/// A decoded page's structure, as far as pagination needs it: answers paths, losslessly.
public protocol PageDocument: Sendable {
  /// The value at `path`, or nil where there is none. An explicit null is `.null`.
  ///
  /// Throws `shape` when the path is ambiguous, such as a name that occurs twice.
  func value(at path: PagePath) throws -> JSONValue?

  /// How many elements or members the container at `path` has; 1 for a scalar or a single object in
  /// XML, 0 for an explicit null, nil where there is nothing.
  func count(at path: PagePath) throws -> Int?

  /// The value at `path` below the last item of the page, or nil where there is none.
  func value(at path: PagePath, inLastItemOf items: ItemSelector) throws -> JSONValue?

  /// The value at `path` below each item of the page, in order; nil for an item that has none there.
  /// The default finds nothing.
  func values(at path: PagePath, inItemsOf items: ItemSelector) throws -> [JSONValue?]

  /// What a relative reference found at `path` starts from, where the page itself says so, as XML
  /// does with `xml:base`; it may be relative to the page's URL. Nil everywhere else, which is the
  /// default.
  func base(at path: PagePath) -> String?
}

extension PageDocument {
  /// Nothing.
  public func values(at path: PagePath, inItemsOf items: ItemSelector) throws -> [JSONValue?] { [] }

  /// Nil: the page's URL.
  public func base(at path: PagePath) -> String? { nil }
}
