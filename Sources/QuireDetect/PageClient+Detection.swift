import QuireCore
public import QuireHTTP
public import QuirePagination

extension PageClient {
  /// Detects how the listing at `url` is paged, and verifies it by loading the second and the third
  /// page.
  ///
  /// Makes one request, and up to five more for each of at most `checks` descriptions, in order,
  /// until one is confirmed: all items of its second and third page are new, or the listing ends
  /// there. Of one that counts until a declared end, the page behind that end is asked for, too: if
  /// it has items, the number means something else. A refuted description is only a guess. If none is
  /// confirmed, `checks` is more than 1 and another page may follow, up to ten further requests send
  /// many parameters at once, and about ten more find the parameter that the server heeds. Reads at
  /// most 16 MiB of a page, and follows links by the link policy.
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
    let first = request.request(at: url)
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
