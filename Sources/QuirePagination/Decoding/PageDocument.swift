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

  /// The value at `path` that the page says of itself: as `value(at:)`, but a path that searches, by
  /// `//` or `*`, looks into no item. The default is `value(at:)`.
  func value(at path: PagePath, outsideItemsOf items: Pagination.Items) throws -> JSONValue?

  /// As `count(at:)`, but a path that searches looks into no item. The default is `count(at:)`.
  func count(at path: PagePath, outsideItemsOf items: Pagination.Items) throws -> Int?

  /// The value at `path` below the last item of the page, or nil where there is none.
  func value(at path: PagePath, inLastItemOf items: Pagination.Items) throws -> JSONValue?

  /// The value at `path` below each item of the page, in order; nil for an item that has none there.
  /// The default finds nothing.
  func values(at path: PagePath, inItemsOf items: Pagination.Items) throws -> [JSONValue?]

  /// What a relative reference found at `path` starts from, where the page itself says so, as XML
  /// does with `xml:base`; it may be relative to the page's URL. Nil everywhere else, which is the
  /// default.
  func base(at path: PagePath) -> String?

  /// As `base(at:)` for the place where `value(at:outsideItemsOf:)` finds its value. The default is
  /// `base(at:)`.
  func base(at path: PagePath, outsideItemsOf items: Pagination.Items) -> String?
}

extension PageDocument {
  /// The value at `path`, wherever it is.
  public func value(
    at path: PagePath, outsideItemsOf items: Pagination.Items
  ) throws -> JSONValue? {
    try value(at: path)
  }

  /// The count at `path`, wherever it is.
  public func count(at path: PagePath, outsideItemsOf items: Pagination.Items) throws -> Int? {
    try count(at: path)
  }

  /// The base at `path`, wherever it is.
  public func base(at path: PagePath, outsideItemsOf items: Pagination.Items) -> String? {
    base(at: path)
  }

  /// Nothing.
  public func values(at path: PagePath, inItemsOf items: Pagination.Items) throws -> [JSONValue?] {
    []
  }

  /// Each item with all that it holds, to compare it by: an element of XML that has no others in it is a text by
  /// its value, and has its attributes here, too.
  package func wholes(ofItemsOf items: Pagination.Items) throws -> [JSONValue] {
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

  /// Nil: the page's URL.
  public func base(at path: PagePath) -> String? { nil }
}

/// The document of a page that has no structure to ask, such as CSV or raw bytes.
public struct EmptyDocument: PageDocument {
  /// A document without anything.
  public init() {}
  /// Nil.
  public func value(at path: PagePath) -> JSONValue? { nil }
  /// Nil.
  public func count(at path: PagePath) -> Int? { nil }
  /// Nil.
  public func value(at path: PagePath, inLastItemOf items: Pagination.Items) -> JSONValue? { nil }
}

/// The document of an answer that is one JSON value, such as what explains an error.
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
