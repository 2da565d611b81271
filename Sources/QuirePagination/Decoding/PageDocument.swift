public import QuireCore

/// The structure of a decoded page, as far as pagination needs it: paths query it without loss.
public protocol PageDocument: Sendable {
  /// Returns the value at `path`, or nil if there is none. An explicit null is `.null`.
  ///
  /// Throws `shape` when the path is ambiguous, such as a name that occurs twice.
  func value(at path: PagePath) throws -> JSONValue?

  /// Returns the number of elements or members of the container at `path`: 1 for a scalar or a
  /// single object in XML, 0 for an explicit null, nil if the path finds nothing.
  func count(at path: PagePath) throws -> Int?

  /// Returns the value at `path` outside the items: a path that searches, by `//` or `*`, skips the
  /// items. The default is `value(at:)`.
  func value(at path: PagePath, outsideItemsOf items: Pagination.Items) throws -> JSONValue?

  /// Returns the count at `path`; a path that searches skips items. The default is `count(at:)`.
  func count(at path: PagePath, outsideItemsOf items: Pagination.Items) throws -> Int?

  /// Returns the value at `path` below the last item of the page, or nil if there is none.
  func value(at path: PagePath, inLastItemOf items: Pagination.Items) throws -> JSONValue?

  /// Returns the value at `path` below each item of the page, in order; nil for an item without
  /// one. The default returns an empty array.
  func values(at path: PagePath, inItemsOf items: Pagination.Items) throws -> [JSONValue?]

  /// Returns the base that the page itself declares for relative references where
  /// `value(at:outsideItemsOf:)` finds its value, as XML does with `xml:base`; it may be relative to
  /// the page's URL. The default is nil: the page's URL.
  func base(at path: PagePath, outsideItemsOf items: Pagination.Items) -> String?
}

extension PageDocument {
  /// Returns the value at `path`, even if it is inside an item.
  public func value(
    at path: PagePath, outsideItemsOf items: Pagination.Items
  ) throws -> JSONValue? {
    try value(at: path)
  }

  /// Returns the count at `path`, even if it is inside an item.
  public func count(at path: PagePath, outsideItemsOf items: Pagination.Items) throws -> Int? {
    try count(at: path)
  }

  /// Returns nil: the page's URL is the base.
  public func base(at path: PagePath, outsideItemsOf items: Pagination.Items) -> String? { nil }

  /// Returns an empty array.
  public func values(at path: PagePath, inItemsOf items: Pagination.Items) throws -> [JSONValue?] {
    []
  }

  /// Returns the whole content of each item, for comparison. The value of an XML element without
  /// children is its text, so its attributes are added here.
  package func contents(ofItems items: Pagination.Items) throws -> [JSONValue] {
    let attributes = try values(at: "/@*", inItemsOf: items)
    return try values(at: "", inItemsOf: items).enumerated().map { index, value in
      guard attributes.indices.contains(index), case .object(let members)? = attributes[index],
        !members.isEmpty
      else { return value ?? .null }
      switch value {
      case nil: return .object(members)
      case .object?, .array?: return value ?? .null
      case let text?: return .object(members + [.init("#text", text)])
      }
    }
  }
}

/// The document of a page without a structure that paths could query, such as raw bytes.
public struct EmptyDocument: PageDocument {
  /// Creates an empty document.
  public init() {}
  /// Returns nil: the document has no values.
  public func value(at path: PagePath) -> JSONValue? { nil }
  /// Returns nil: the document has no containers.
  public func count(at path: PagePath) -> Int? { nil }
  /// Returns nil: the document has no items.
  public func value(at path: PagePath, inLastItemOf items: Pagination.Items) -> JSONValue? { nil }
}

/// The document of an answer that is a single JSON value, such as the body of an error.
package struct ValueDocument: PageDocument {
  private let root: JSONValue

  package init(_ root: JSONValue) { self.root = root }

  package func value(at path: PagePath) -> JSONValue? { root.value(at: path) }

  package func count(at path: PagePath) -> Int? {
    switch value(at: path) {
    case nil: nil
    case .null: 0
    case .array(let elements): elements.count
    case .object(let members): members.count
    case .bool, .number, .string: 1
    }
  }

  package func value(at path: PagePath, inLastItemOf items: Pagination.Items) -> JSONValue? {
    for list in items.paths {
      if case .array(let elements)? = root.value(at: list) { return elements.last?.value(at: path) }
    }
    return nil
  }
}
