public import HTTPTypes
public import QuireCore
public import QuirePagination

/// The details of a page's answer, besides its items.
public struct HTTPPageInfo: Sendable, ItemIdentifying {
  /// The status and header fields of the answer.
  public let head: HTTPResponse
  /// The document with the items; empty for a part that other parts follow.
  public let document: any PageDocument
  /// The items set aside under `BadItemPolicy.collect`.
  public internal(set) var badItems: [BadItem]
  /// The sizes and times of the last transfer.
  public let metrics: TransferMetrics
  /// The cost of fetching the page, including failed attempts.
  public let traffic: WalkReport.Traffic
  /// The absolute URL that answered, after redirects, byte for byte and with its secrets.
  public let url: String
  /// The URL to which permanent redirects (301, 308) led before the first temporary one; nil
  /// without any. Use it for later walks once it was the same several times.
  public let permanentRedirect: String?
  /// How the walk recovered if the server had expired its cursor before this page; nil otherwise.
  public let recovery: PageRecovery?
  /// The position at which a later walk reads what has changed since. Only on the last page, and
  /// only if the description names the value for it.
  public internal(set) var resume: Position?
  let listing: Listing
  /// The request of the page.
  let asked: PageRequest
  /// The continuation from which the request was made, with its secrets; nil for a plain first
  /// page.
  package let sent: Bookmark?
  /// Returns the decoder for fields of the page, by the settings of its items; nil if items are not
  /// decoded into types. On demand, because finding that out takes time.
  let fieldDecoder: @Sendable () -> (any FieldDecoder)?

  /// The answer in the form that the description's engine reads.
  package var answer: PageAnswer {
    PageAnswer(
      request: asked, url: url, status: head.status.code, headerFields: head.headerFields,
      document: document, requestedBookmark: sent)
  }

  package var itemsIdentity: UInt64? {
    guard let items = try? document.contents(ofItems: listing.engine.items), !items.isEmpty else {
      return nil
    }
    var digest = FNV1a()
    for item in items {
      guard let member = item.identity else { return nil }
      digest.add("\(member.name) \(member.value)\n".utf8)
    }
    return digest.value
  }

  /// The answer's Date in seconds since 1970 (RFC 9110, section 6.6.1); nil if it has none that can
  /// be read.
  package var serverTime: Double? {
    head.headerFields[.date].flatMap(HTTPDate.secondsSince1970)
  }

  /// The number of items of a full page; nil if unknown.
  package var pageSize: Int? { listing.engine.pageSize }

  /// The request of the page, such as `GET https://host/path?page=2`, with secrets redacted.
  public var request: String { listing.redactor(for: asked).describe(asked.method, asked.url) }
}

extension Page {
  /// The details of the page's answer; nil for a page of another source.
  public var http: HTTPPageInfo? { metadata[HTTPPageInfo.self] }

  /// The items set aside under `BadItemPolicy.collect`.
  public var badItems: [BadItem] { http?.badItems ?? [] }

  /// Returns a page that is a part of the server's page, because a limit cut it or it was resumed
  /// inside, with the bad items of this part only, and with its own items counted as received. The
  /// walks that read the other parts of the page get the whole page, too.
  ///
  /// A bad item belongs to the part in which the next good item lies, or else to the last part.
  package func countingOwnPart() -> Page {
    guard let info = http, !hasMoreParts, !info.listing.engine.pagination.policy.reversesItems
    else { return self }
    let start = position.itemOffset
    let end = next.flatMap { next in
      next.itemOffset > start && next.page == position.page ? next.itemOffset : nil
    }
    guard start > 0 || end != nil else { return self }
    // The number of good items in front of each bad one is its index less the bad ones there.
    let own = info.badItems.enumerated().filter { count, item in
      let front = item.index - count
      return (start == 0 || front >= start) && end.map { front < $0 } ?? true
    }
    var page = self
    page.metadata[HTTPPageInfo.self]?.badItems = own.map(\.element)
    page.traffic.badItems = own.count
    if let end { page.traffic.items = end - start }
    return page
  }
}

extension Page {
  /// Returns a field of the page besides its items, such as a sync token; nil if the page has none.
  ///
  /// Throws `PageError` with code `shape` if the name occurs twice.
  public func field(_ path: PagePath) throws -> JSONValue? {
    guard let http else { return nil }
    return try http.document.value(at: path, outsideItemsOf: http.listing.engine.items)
  }

  /// Returns a field of the page as a type; nil if the page has none, or a null.
  ///
  /// Decoded as the listing's items are: by the `JSONDecoder` or the `XMLDecodingOptions` of the
  /// cursor, including the strategies for keys and dates. If items are not decoded into types, by
  /// `JSONDecoder()`. Throws `PageError` with code `fieldDecoding` if the field does not fit;
  /// `underlying` is the decoder's error.
  public func field<Value: Decodable>(_ path: PagePath, as type: Value.Type) throws -> Value? {
    guard let http else { return nil }
    if let decoder = http.fieldDecoder(),
      let found = try decoder.field(type, at: path, in: http.document)
    {
      return found
    }
    return try SingleValue.field(type, at: path, ofValueIn: http.document)
  }
}
