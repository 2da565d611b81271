import QuireHTTP
public import QuirePagination

/// Checks the promises that every `PageDecoder` makes, on a sample page.
///
/// ```swift
/// @Test func decoderKeepsItsPromises() throws {
///   try DecoderConformance.check(JSONPageDecoder<Int>(), page: Array(#"{"a":[1,2]}"#.utf8),
///     context: DecodingContext(items: "/a"), items: [1, 2])
/// }
/// ```
public struct DecoderConformance<Item: Sendable & Equatable> {
  let decoder: any PageDecoder<Item>
  let page: [UInt8]
  let context: DecodingContext
  let items: [Item]

  /// Checks every promise in turn; quadratic in the page's length, so keep the page small.
  ///
  /// - Parameters:
  ///   - decoder: The decoder.
  ///   - page: A whole page without surrounding white space, with at least two items.
  ///   - context: The decoder's context of the page.
  ///   - items: The expected items.
  /// - Throws: The first `ConformanceFailure`.
  public static func check(
    _ decoder: some PageDecoder<Item>, page: [UInt8],
    context: DecodingContext = DecodingContext(), items: [Item]
  ) throws {
    let suite = DecoderConformance(decoder: decoder, page: page, context: context, items: items)
    try suite.checkWhole()
    try suite.checkSplits()
    try suite.checkArrival()
    try suite.checkIndependence()
    if decoder.isSelfDelimiting { try suite.checkTruncation() }
  }

  private func checkWhole() throws {
    try expect([page], "A page in one slice decodes to its items, in order.")
    try expect([[], page, []], "An empty slice changes nothing.")
  }

  private func checkSplits() throws {
    for cut in page.indices {
      try expect(
        [Array(page[..<cut]), Array(page[cut...])], "A page may be split at any byte.",
        at: "split before byte \(cut)")
    }
    try expect(page.map { [$0] }, "A page may come byte by byte.")
  }

  /// Checks that items delivered early are the same items, each once.
  private func checkArrival() throws {
    let promise = "Items come once, in order, whether before the end of the page or with it."
    var context = context
    context.delivery = .asItArrives
    for size in 1...page.count {
      var session = try decoder.begin(context)
      var arrived: [Item] = []
      for start in stride(from: 0, to: page.count, by: size) {
        try session.receive(Array(page[start..<min(start + size, page.count)]))
        arrived += try session.readyItems().items
      }
      _ = try session.finish()
      arrived += try session.items().items
      guard arrived == items else {
        throw ConformanceFailure(promise, evidence: "\(arrived) in slices of \(size)")
      }
    }
  }

  /// Checks that two pages decoded at the same time do not affect each other.
  private func checkIndependence() throws {
    let promise = "Each page is decoded by itself."
    var first = try decoder.begin(context)
    var second = try decoder.begin(context)
    for byte in page {
      try first.receive([byte])
      try second.receive([byte])
    }
    _ = try first.finish()
    _ = try second.finish()
    guard try first.items().items == items, try second.items().items == items else {
      throw ConformanceFailure(promise, evidence: "two pages decoded in turns differ")
    }
  }

  private func checkTruncation() throws {
    let promise = "A decoder that calls itself self-delimiting takes no part of a page for a page."
    for length in page.indices {
      do {
        var session = try decoder.begin(context)
        try session.receive(Array(page[..<length]))
        _ = try session.finish()
      } catch {
        continue
      }
      throw ConformanceFailure(
        promise, evidence: "the first \(length) of \(page.count) bytes passed for a page")
    }
  }

  private func expect(_ slices: [[UInt8]], _ promise: String, at place: String = "") throws {
    do {
      var session = try decoder.begin(context)
      for slice in slices { try session.receive(slice) }
      _ = try session.finish()
      if let count = try session.itemCount(), count != items.count {
        throw ConformanceFailure(
          "A decoder that tells the number of items before it decodes them tells the right one.",
          evidence: "It told \(count) of \(items.count) \(place)")
      }
      let decoded = try session.items()
      guard decoded.items == items, decoded.badItems.isEmpty else {
        throw ConformanceFailure(promise, evidence: "\(decoded.items) \(place)")
      }
    } catch let failure as ConformanceFailure {
      throw failure
    } catch {
      throw ConformanceFailure(promise, evidence: "\(error) \(place)")
    }
  }
}
