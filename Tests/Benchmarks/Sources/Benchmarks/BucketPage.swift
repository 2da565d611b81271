import Foundation

/// One object of a listing as S3 sends it.
struct BucketObject: Codable, Sendable {
  struct Owner: Codable, Sendable {
    enum CodingKeys: String, CodingKey { case id = "ID", displayName = "DisplayName" }

    let id: String
    let displayName: String
  }

  enum CodingKeys: String, CodingKey {
    case key = "Key", lastModified = "LastModified", tag = "ETag", size = "Size", owner = "Owner"
    case storageClass = "StorageClass"
  }

  let key: String
  let lastModified: String
  let tag: String
  let size: Int
  let owner: Owner
  let storageClass: String
}

/// A page of them, as far as XMLCoder is asked to decode it.
struct BucketListing: Codable {
  enum CodingKeys: String, CodingKey { case contents = "Contents" }

  let contents: [BucketObject]
}

enum BucketPage {
  static let head = """
    <?xml version="1.0" encoding="UTF-8"?>
    <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name>\
    <Prefix>photos/</Prefix><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>
    """
  static let tail = "</ListBucketResult>"

  /// A page of about 400 bytes an object; 3,300 make 1.3 MB.
  static func page(of count: Int) -> [UInt8] {
    Array((head + (0..<count).map(object).joined() + tail).utf8)
  }

  static func object(_ number: Int) -> String {
    """
    <Contents><Key>photos/2025/holiday &amp; family/Größe/IMG_\(100_000 + number).jpg</Key>\
    <LastModified>2025-03-\(10 + number % 18)T12:34:56.000Z</LastModified>\
    <ETag>&quot;9bb58f26192e4ba00f01e2e7b136bbd8&quot;</ETag><Size>\(123_456 + number * 7)</Size>\
    <Owner><ID>75aa57f09aa0c8caeab4f8c24e99d10f8e7faeebf76c078efc7c6caea54ba06a</ID>\
    <DisplayName>photographer@example.com</DisplayName></Owner>\
    <StorageClass>STANDARD</StorageClass></Contents>

    """
  }
}
