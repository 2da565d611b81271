import QuireCore

/// Buckets and containers.
extension Pagination {
  /// S3's ListObjectsV2, and all that speak it: `<ListBucketResult><IsTruncated>true</IsTruncated>
  /// <Contents>…</Contents><CommonPrefixes>…</CommonPrefixes><NextContinuationToken>…`.
  ///
  /// Page size: `max-keys`, 1000 by default and at most. Pages may be empty in the middle. With a
  /// delimiter, prefixes are items behind the objects of their page. With `encoding-type=url`, keys
  /// come form-encoded (a space as `+`), which is how keys survive that XML cannot hold.
  public static let s3 = Pagination(
    next: .body("/ListBucketResult/NextContinuationToken"), send: .query("continuation-token"),
    request: RequestRule(always: RequestConstants(query: ["list-type": "2"])),
    end: [.flag("/ListBucketResult/IsTruncated")],
    items: .all(["/ListBucketResult/Contents", "/ListBucketResult/CommonPrefixes"]),
    size: PageSize(.query("max-keys"), default: 1000, max: 1000),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/Error/ArgumentName", .equals("continuation-token"), statuses: [400]),
        .expired, message: "/Error/Message"),
      slowDown,
    ]), formats: [.xml])

  /// S3's first ListObjects: `<ListBucketResult><IsTruncated>true</IsTruncated><NextMarker>…
  /// <Contents><Key>…</Key></Contents>…`.
  ///
  /// Page size: `max-keys`, 1000 by default and at most. The marker is `NextMarker`, which comes
  /// only with a delimiter, or else the last key. Always asks for `encoding-type=url`, so that every
  /// key can be one: keys come form-encoded, a space as `+`, and are decoded to be sent, where the
  /// answer says so by `EncodingType`; a server that does not know the parameter sends them as they are.
  public static let s3v1 = Pagination(
    next: .firstOf([
      Route(key("ListBucketResult", "NextMarker"), send: .query("marker")),
      Route(key("ListBucketResult", "Contents[last()]/Key"), send: .query("marker")),
    ]),
    request: RequestRule(always: RequestConstants(query: ["encoding-type": "url"])),
    end: [.flag("/ListBucketResult/IsTruncated")],
    items: .all(["/ListBucketResult/Contents", "/ListBucketResult/CommonPrefixes"]),
    size: PageSize(.query("max-keys"), default: 1000, max: 1000),
    policy: PagePolicy(failure: [slowDown]), formats: [.xml])

  /// Azure's blobs: `<EnumerationResults><Blobs><Blob>…</Blob></Blobs><NextMarker>…</NextMarker>`.
  ///
  /// Page size: `maxresults`, 5000 by default and at most. Pages may be empty in the middle; only an
  /// empty marker is the end. With a delimiter, prefixes are items behind the blobs of their page.
  public static let azureBlob = Pagination(
    next: .body("/EnumerationResults/NextMarker"), send: .query("marker"),
    request: RequestRule(
      always: RequestConstants(query: ["comp": "list", "restype": "container"])),
    items: .all(["/EnumerationResults/Blobs/Blob", "/EnumerationResults/Blobs/BlobPrefix"]),
    size: PageSize(.query("maxresults"), default: 5000, max: 5000),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/Error/Code", .equals("ServerBusy"), statuses: [503]), .throttled,
        message: "/Error/Message")
    ]), formats: [.xml])

  /// A key in an answer with that root element, decoded where the answer says that it is encoded.
  private static func key(_ root: String, _ path: String) -> NextSource {
    .formDecoded(
      .body(PagePath(stringLiteral: "/\(root)/\(path)")),
      when: .value(
        .body(PagePath(stringLiteral: "/\(root)/EncodingType")), .equals("url")))
  }

  private static let slowDown = FailureRule(
    when: .value("/Error/Code", .equals("SlowDown"), statuses: [503]), .throttled,
    message: "/Error/Message")

  /// S3's ListObjectVersions: `<ListVersionsResult><IsTruncated>true</IsTruncated><NextKeyMarker>…
  /// <NextVersionIdMarker>…<Version>…</Version><DeleteMarker>…`.
  ///
  /// Page size: `max-keys`, 1000 by default and at most. The cursor has two parts; a version id
  /// `null` is one like any other. Of each page, versions come first, then delete markers, then
  /// prefixes. Always asks for `encoding-type=url`, so that every key can be a marker.
  public static let s3Versions = Pagination(
    next: .all([
      "key-marker": key("ListVersionsResult", "NextKeyMarker"),
      "version-id-marker": .body("/ListVersionsResult/NextVersionIdMarker"),
    ]),
    send: .queryMerge,
    request: RequestRule(
      always: RequestConstants(query: ["versions": "", "encoding-type": "url"])),
    end: [.flag("/ListVersionsResult/IsTruncated")],
    items: .all([
      "/ListVersionsResult/Version", "/ListVersionsResult/DeleteMarker",
      "/ListVersionsResult/CommonPrefixes",
    ]),
    size: PageSize(.query("max-keys"), default: 1000, max: 1000), formats: [.xml])

  /// S3's ListMultipartUploads: `<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>
  /// <NextKeyMarker>…<NextUploadIdMarker>…<Upload>…</Upload>`.
  ///
  /// Page size: `max-uploads`, 1000 by default and at most. Otherwise as `s3Versions`.
  public static let s3Uploads = Pagination(
    next: .all([
      "key-marker": key("ListMultipartUploadsResult", "NextKeyMarker"),
      "upload-id-marker": .body("/ListMultipartUploadsResult/NextUploadIdMarker"),
    ]),
    send: .queryMerge,
    request: RequestRule(
      always: RequestConstants(query: ["uploads": "", "encoding-type": "url"])),
    end: [.flag("/ListMultipartUploadsResult/IsTruncated")],
    items: .all([
      "/ListMultipartUploadsResult/Upload", "/ListMultipartUploadsResult/CommonPrefixes",
    ]),
    size: PageSize(.query("max-uploads"), default: 1000, max: 1000), formats: [.xml])

  static let objectStorePresets = [
    PaginationPreset("azureBlob", "Blobs/Blob and BlobPrefix, NextMarker", .azureBlob),
    PaginationPreset("s3", "Contents and CommonPrefixes, NextContinuationToken", .s3),
    PaginationPreset("s3v1", "Contents and CommonPrefixes; marker = NextMarker or last key", .s3v1),
    PaginationPreset(
      "s3Versions", "Version, DeleteMarker and CommonPrefixes, two markers", .s3Versions),
    PaginationPreset("s3Uploads", "Upload and CommonPrefixes, two markers", .s3Uploads),
  ]
}
