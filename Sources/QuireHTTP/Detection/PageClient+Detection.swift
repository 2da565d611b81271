import QuireCore

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
    let source = HTTPPageSource(
      client: client, pagination: Pagination(next: .linkHeader),
      first: try first.filling(placeholders), pageSize: nil,
      decoder: lenient, secrets: request.secrets)
    var answer = try await source.answer(at: nil)
    answer.request = first
    let detector = try PaginationDetector(answer, links: links, placeholders: placeholders)
    var detection = detector.detection()
    let verifier = DetectionVerifier(
      client: client, first: answer, decoder: lenient, declared: detector.declaredItems,
      isPageOne: detector.saysPageOne, secrets: request.secrets)
    try await verifier.verify(&detection, checks: checks)
    return detection.redacted(by: try source.listing.get().redactor())
  }

  /// The most bytes of a page that a detector reads.
  private static var longestDetectedPage: Int { 16 << 20 }
}
