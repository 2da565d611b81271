import QuireCore
public import QuireHTTP
public import QuirePagination

extension PageClient {
  /// Finds out from one answer how the listing at `url` is paged, and asks for its second and third
  /// page to be sure.
  ///
  /// Makes one request, and for each of at most `checks` descriptions up to three more, under the link
  /// policy, one after the other until one is confirmed: its second page follows the first, and so does
  /// the third, with items that are all new by what identifies them, or the listing ends there. What is
  /// refuted is a guess again, and not proposed. Reads no more than 16 MiB of a page. Throws what
  /// a walk throws whose first page cannot be had; that the second one cannot is no error, but part of
  /// the result.
  /// - Parameters:
  ///   - url: The listing's first page, absolute.
  ///   - request: Method, fields and body of the first request.
  ///   - links: The link policy of the descriptions. Default nil: their own.
  ///   - checks: How many descriptions to check at most. Default 3; 0 looks at one answer only.
  ///   - decoder: Decodes pages; what it makes of items is not looked at.
  public func detect<Item: Sendable>(
    at url: String, request: RequestOptions = RequestOptions(), links: LinkPolicy? = nil,
    checks: Int = 3, decoder: any PageDecoder<Item>
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
    // Nothing is assumed: the answer is asked for, and not its items.
    let listing = try Listing(
      client: client, pagination: Pagination(next: .linkHeader),
      first: try first.filling(placeholders), secrets: request.secrets)
    var answer = try await PageLoader(listing, lenient).answer(at: nil)
    answer.request = first
    let detector = try PaginationDetector(answer, links: links, placeholders: placeholders)
    var detection = detector.detection()
    let verifier = DetectionVerifier(
      client: client, first: answer, decoder: lenient, declared: detector.declaredItems,
      isPageOne: detector.saysPageOne, secrets: request.secrets)
    try await verifier.verify(&detection, checks: checks)
    return detection.redacted(by: listing.redactor())
  }

  /// The most bytes of a page that a detector reads.
  private static var longestDetectedPage: Int { 16 << 20 }
}

extension PageClient {
  /// The client with an audit of each walk: signs in its pages that the description does not fit become
  /// warnings of the report.
  package var audited: PageClient {
    var client = self
    client.auditor = { pagination, hasPageSize, expectsTotal in
      ListingAudit.walkAudit(
        of: pagination, hasPageSize: hasPageSize, expectsTotal: expectsTotal)
    }
    return client
  }
}

/// The document of an answer that is of no format: what is left is its head.
struct UnreadableDocument: PageDocument {
  /// What is wrong with it.
  let reason: PageError

  func value(at path: PagePath) -> JSONValue? { nil }
  func count(at path: PagePath) -> Int? { nil }
  func value(at path: PagePath, inLastItemOf items: Pagination.Items) -> JSONValue? { nil }
}

/// Decodes as another decoder does, and lets pass what that one cannot read.
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

  /// Whether an error says that the page is of another format, and not that it is cut off or too
  /// large.
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
