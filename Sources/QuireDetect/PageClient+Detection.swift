import QuireCore
public import QuireHTTP
public import QuirePagination

extension PageClient {
  /// Detects how the listing at `url` is paged, and verifies it by loading the second and the third
  /// page.
  ///
  /// Makes one request, and up to three more for each of at most `checks` descriptions, in order,
  /// until one is confirmed: all items of its second and third page are new, or the listing ends
  /// there. A refuted description is only a guess. If none is confirmed, `checks` is more than 1
  /// and another page may follow, up to eight further requests send many parameters at once, and
  /// about ten more find the parameter that the server heeds. Reads at most 16 MiB of a page, and
  /// follows links by the link policy.
  ///
  /// Throws the errors of a walk if the first page cannot be loaded, and `invalidArgument` for a
  /// placeholder of unknown meaning. A failure of a later page is part of the result.
  /// - Parameters:
  ///   - url: The listing's first page, absolute.
  ///   - request: Method, fields and body of the first request.
  ///   - links: The link policy for all descriptions. Default nil: their own.
  ///   - checks: The most descriptions to check. Default 6; 0 makes one request only.
  ///   - decoder: Decodes pages; its items are not used.
  public func detect<Item: Sendable>(
    at url: String, request: RequestOptions = RequestOptions(), links: LinkPolicy? = nil,
    checks: Int = 6, decoder: any PageDecoder<Item>
  ) async throws -> Detection {
    var client = self
    let longest = Self.longestDetectedPage
    let limits = client.configuration.transferLimits
    client.configuration.transferLimits.decodedBytes = min(limits.decodedBytes, longest)
    let first = PageRequest(
      method: request.method, url: request.url(for: url), headerFields: request.headers,
      body: request.body)
    let placeholders = try RequestPlaceholder.all(in: first)
    let lenient = LenientPageDecoder(decoder: decoder)
    // Only the answer is used, not its items, so any description will do.
    let listing = try Listing(
      client: client, pagination: Pagination(next: .linkHeader),
      first: try first.filling(placeholders), secrets: request.secrets)
    var answer = try await PageLoader(listing, lenient).answer(at: nil)
    answer.request = first
    let detector = try PaginationDetector(answer, links: links, placeholders: placeholders)
    var detection = detector.detection()
    let verifier = DetectionVerifier(
      client: client, first: answer, decoder: lenient, detector: detector,
      secrets: request.secrets)
    try await verifier.verify(&detection, checks: checks)
    return detection.redacted(by: listing.redactor())
  }

  /// The most bytes that a detector reads of a page, decoded.
  private static var longestDetectedPage: Int { 16 << 20 }
}

extension PageClient {
  /// The client with an audit of each walk. The audit adds warnings to the report if the
  /// description does not fit the pages.
  package var audited: PageClient {
    var client = self
    client.auditor = { pagination, hasPageSize, expectsTotal in
      ListingAudit.walkAudit(
        of: pagination, hasPageSize: hasPageSize, expectsTotal: expectsTotal)
    }
    return client
  }
}

/// The document of an answer in an unknown format. Only the head of the answer can be used.
struct UnreadableDocument: PageDocument {
  /// The error that the decoder threw for the body.
  let reason: PageError

  func value(at path: PagePath) -> JSONValue? { nil }
  func count(at path: PagePath) -> Int? { nil }
  func value(at path: PagePath, inLastItemOf items: Pagination.Items) -> JSONValue? { nil }
}

/// A decoder that returns an `UnreadableDocument` for pages that `decoder` cannot read.
struct LenientPageDecoder<Item: Sendable>: PageDecoder {
  let decoder: any PageDecoder<Item>

  var isSelfDelimiting: Bool { decoder.isSelfDelimiting }

  func begin(_ context: DecodingContext) throws -> any PageDecoding<Item> {
    do {
      return Session(decoding: try decoder.begin(context))
    } catch let error as PageError where Self.isUnreadable(error) {
      return Session(decoding: nil, reason: error)
    }
  }

  /// Whether an error means that the page is in another format, rather than truncated or too large.
  private static func isUnreadable(_ error: PageError) -> Bool {
    error.code == .malformed || error.code == .unexpectedMediaType
  }

  private struct Session: PageDecoding {
    var decoding: (any PageDecoding<Item>)?
    var reason: PageError?

    mutating func receive(_ slice: [UInt8]) throws {
      try attempt { try $0.receive(slice) }
    }

    mutating func finish() throws -> any PageDocument {
      var document: (any PageDocument)?
      try attempt { document = try $0.finish() }
      if let document { return document }
      return UnreadableDocument(
        reason: reason ?? PageError(.malformed, "The page is of no format that can be read."))
    }

    mutating func items() -> DecodedItems<Item> { DecodedItems([]) }

    private mutating func attempt(_ body: (inout any PageDecoding<Item>) throws -> Void) throws {
      guard var session = decoding else { return }
      do {
        try body(&session)
        decoding = session
      } catch let error as PageError where LenientPageDecoder.isUnreadable(error) {
        decoding = nil
        reason = error
      }
    }
  }
}
