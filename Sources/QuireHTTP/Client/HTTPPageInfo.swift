public import HTTPTypes
public import QuireCore

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
  public let traffic: Traffic
  /// Where the answer came from after redirects: the absolute URL byte for byte, secrets included.
  public let url: String
  /// How the walk went on if the server had forgotten its cursor before this page; nil otherwise.
  public internal(set) var recovery: PageRecovery?
  /// Where a later walk starts that wants what has changed since; only on the last page, and only
  /// where the description says what a server gives for that.
  public internal(set) var resume: Position?
  let visit: PageVisit
  /// What reads fields as items are read; nil where those are not made into types.
  var fieldDecoder: (any FieldDecoder)?

  /// The request that was answered, as `GET https://host/path?page=2`, secrets redacted.
  public var request: String { visit.redactor.describe(visit.request.method, visit.request.url) }
}

extension Page {
  /// What HTTP said about the page; nil for a page from another source.
  public var http: HTTPPageInfo? { metadata[HTTPPageInfo.self] }

  /// The items set aside under `BadItemPolicy.collect`.
  public var badItems: [BadItem] { http?.badItems ?? [] }
}
