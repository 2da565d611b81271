import QuireCore

extension PageClient {
  /// Finds out from one answer how the listing at `url` is paged, and asks for its second page to be
  /// sure.
  ///
  /// Makes one request, and at most `checks` more: each for a second page, under the link policy, one
  /// after the other until one follows the first page. Reads no more than 16 MiB of a page. Throws what
  /// a walk throws whose first page cannot be had; that the second one cannot is no error, but part of
  /// the result.
  /// - Parameters:
  ///   - url: The listing's first page, absolute.
  ///   - request: Method, fields and body of the first request.
  ///   - links: The link policy of the descriptions. Default nil: their own.
  ///   - checks: How many second pages to ask for at most. Default 3; 0 looks at one answer only.
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
    let lenient = LenientPageDecoder(decoder: decoder)
    // Nothing is assumed: the answer is asked for, and not its items.
    let source = HTTPPageSource(
      client: client, pagination: Pagination(next: .linkHeader), first: first, pageSize: nil,
      decoder: lenient, secrets: request.secrets)
    let answer = try await source.answer(at: nil)
    var detection = try PaginationDetector(answer, links: links).detection()
    let verifier = DetectionVerifier(
      client: client, first: answer, decoder: lenient, secrets: request.secrets)
    try await verifier.verify(&detection, checks: checks)
    return detection.redacted(by: try source.listing.get().redactor())
  }

  /// The most bytes of a page that a detector reads.
  private static var longestDetectedPage: Int { 16 << 20 }
}
