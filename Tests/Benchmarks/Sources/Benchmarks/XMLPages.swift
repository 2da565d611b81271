import Floor
import Foundation
import Quire
import QuirePagination
import QuireXML
import XMLCoder

/// Indexing and decoding a page of 1.3 MB, against libxml2 with empty callbacks and XMLCoder.
enum XMLPages {
  static func measure() async throws -> [Figure] {
    let page = BucketPage.page(of: 3_300)
    let data = Data(page)
    let slices = stride(from: 0, to: page.count, by: 16 << 10).map {
      Array(page[$0..<min($0 + 16 << 10, page.count)])
    }
    let rounds = try await Measurement.rounds(
      of: { precondition(floor(page) > 0) },
      { _ = try XMLDocument(page) },
      {
        let count = try typed(slices)
        precondition(count == 3_300)
      },
      {
        let listing = try XMLDecoder().decode(BucketListing.self, from: data)
        precondition(listing.contents.count == 3_300)
      })
    let megabytes = Double(page.count) / 1e6
    return [
      Figure("XMLCoder to typed XML, 1.3 MB page", rounds.ratio(3, to: 2), "×", .atLeast(25)),
      Figure("typed XML to libxml2 without callbacks", rounds.ratio(2, to: 0), "×", .atMost(4.5)),
      Figure("XMLDocument to libxml2 without callbacks", rounds.ratio(1, to: 0), "×", .atMost(2)),
      Figure("  typed XML", megabytes / rounds.seconds(2), "MB/s"),
    ]
  }

  private static func floor(_ page: [UInt8]) -> Int64 {
    page.withUnsafeBytes { floor_parse_xml($0.baseAddress, $0.count) }
  }

  private static func typed(_ slices: [[UInt8]]) throws -> Int {
    var session = try XMLPageDecoder<BucketObject>().begin(
      DecodingContext(items: "/ListBucketResult/Contents"))
    for slice in slices { try session.receive(slice) }
    _ = try session.finish()
    return try session.items().count
  }
}
