public import HTTPTypes
public import QuireCore
public import QuirePagination

/// What HTTP and the format said about a page, besides its items.
public struct HTTPPageInfo: Sendable {
  /// Status and header fields of the answer.
  public let head: HTTPResponse
  /// The whole document the items came in; without anything for a part that more parts follow.
  public let document: any PageDocument
  /// The items set aside under `BadItemPolicy.collect`.
  public let badItems: [BadItem]
  /// Sizes and times of the last transfer.
  public let metrics: TransferMetrics
  /// What fetching the page took, failed attempts included.
  public let traffic: WalkReport.Traffic
  /// Where the answer came from after redirects: the absolute URL byte for byte, secrets included.
  public let url: String
  /// Where permanent redirects (301, 308) led before the first temporary one: where to ask in future, once
  /// that was seen repeatedly. Nil where there were none.
  public let permanentRedirect: String?
  /// How the walk went on if the server had forgotten its cursor before this page; nil otherwise.
  public let recovery: PageRecovery?
  /// Where a later walk starts that wants what has changed since; only on the last page, and only
  /// where the description says what a server gives for that.
  public internal(set) var resume: Position?
  let listing: Listing
  /// The request that was answered.
  let asked: PageRequest
  /// What the request was made of, secrets restored; nil for the plain first page.
  package let sent: Bookmark?
  /// What reads fields as items are read; nil where those are not made into types.
  let fieldDecoder: (any FieldDecoder)?

  /// The answer as the description sees it.
  package var answer: PageAnswer {
    PageAnswer(
      request: asked, url: url, status: head.status.code, headerFields: head.headerFields,
      document: document, sent: sent)
  }

  /// The number of items that a full page has; nil when unknown.
  package var pageSize: Int? { listing.engine.pageSize }

  /// The request that was answered, as `GET https://host/path?page=2`, secrets redacted.
  public var request: String { listing.redactor(for: asked).describe(asked.method, asked.url) }
}

extension Page {
  /// What HTTP said about the page; nil for a page from another source.
  public var http: HTTPPageInfo? { metadata[HTTPPageInfo.self] }

  /// The items set aside under `BadItemPolicy.collect`.
  public var badItems: [BadItem] { http?.badItems ?? [] }
}

extension Page {
  /// A field of the page beside its items, such as a sync token; nil where the page has none.
  ///
  /// Throws `PageError` with code `shape` for a name that occurs twice.
  public func field(_ path: PagePath) throws -> JSONValue? {
    guard let http else { return nil }
    return try http.document.value(at: path, outsideItemsOf: http.listing.engine.items)
  }

  /// A field of the page, typed; nil where the page has none, or a null.
  ///
  /// Decoded as the listing's items are: by the `JSONDecoder` or the `XMLDecodingOptions` of the
  /// cursor, its strategies for keys and dates included. For items that are not decoded into types,
  /// by `JSONDecoder()`. Throws `PageError` with code `fieldDecoding` when the field does not fit, its
  /// `underlying` what the decoder threw.
  public func field<Value: Decodable>(_ path: PagePath, as type: Value.Type) throws -> Value? {
    guard let http else { return nil }
    if let found = try http.fieldDecoder?.field(type, at: path, in: http.document) { return found }
    return try SingleValue.field(type, at: path, ofValueIn: http.document)
  }
}
