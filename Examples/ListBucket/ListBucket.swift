import Foundation
import Quire

/// An object in a bucket of S3 or a compatible service, as the service lists it.
struct Object: Decodable, Sendable {
  let key: String
  let size: Int
  let lastModified: Date
}

/// Lists a public bucket: `ListBucket https://bucket.s3.amazonaws.com/`.
///
/// The pages are XML, but are read like JSON: only `keys: .capitalized` differs, which decodes the
/// element `LastModified` as `lastModified`.
@main
struct ListBucket {
  static func main() async throws {
    guard CommandLine.arguments.count == 2 else { fatalError("usage: ListBucket URL") }
    try await list(CommandLine.arguments[1])
  }

  @concurrent static func list(_ url: String) async throws {
    let objects = PageClient().cursor(
      of: Object.self, at: url,
      pagination: .s3.items(at: "/ListBucketResult/Contents"),
      xml: XMLDecodingOptions(keys: .capitalized))

    var total = 0
    for try await object in objects.items {
      print(object.lastModified.formatted(.iso8601), object.size, object.key)
      total += object.size
    }
    print("\(total) bytes")
  }
}
