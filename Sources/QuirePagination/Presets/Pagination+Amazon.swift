import QuireCore

/// Services of Amazon.
extension Pagination {
  /// Amazon DynamoDB, Query and Scan: `{"Items": […], "Count": 2, "LastEvaluatedKey": {…}}`.
  ///
  /// For POST, with `X-Amz-Target`; page size: `Limit` in the body, and 1 MB at most. Pages may be
  /// empty in the middle; the key is an object and goes back as it came, every digit.
  public static let dynamoDB = Pagination(
    next: .body("/LastEvaluatedKey"), send: .jsonBody("/ExclusiveStartKey"),
    request: RequestRule(
      always: RequestConstants(header: ["Content-Type": "application/x-amz-json-1.0"]),
      isQuery: true),
    items: "/Items", size: PageSize(.jsonBody("/Limit")),
    policy: PagePolicy(failure: amazonFailures), formats: [.json])

  /// Services of Amazon that speak JSON: `{"Items": […], "NextToken": "…"}`.
  ///
  /// For POST, with `X-Amz-Target`; page size: `MaxResults` in the body with most. Names differ
  /// from service to service. Where the same token again is the end, as with `GetLogEvents`, add
  /// `.sameCursor` to `end`.
  /// - Parameters:
  ///   - items: Where the items are.
  ///   - token: Where the page has its token.
  ///   - sent: Where the next request has it; nil for the same place.
  ///   - size: Where the page size goes.
  public static func aws(
    items: ItemSelector, token: PagePath = "/NextToken", sent: PagePath? = nil,
    size: PagePath = "/MaxResults"
  ) -> Pagination {
    Pagination(
      next: .body(token), send: .jsonBody(sent ?? token),
      request: RequestRule(
        always: RequestConstants(header: ["Content-Type": "application/x-amz-json-1.1"]),
        isQuery: true),
      items: items, size: PageSize(.jsonBody(size)), policy: PagePolicy(failure: amazonFailures),
      formats: [.json])
  }

  /// Amazon Kinesis, DescribeStream: `{"StreamDescription": {"Shards": […], "HasMoreShards": true}}`.
  ///
  /// For POST, with `X-Amz-Target`; page size: `Limit` in the body, 100 by default and 10,000 at
  /// most. The cursor is the last shard's id.
  public static let kinesis = Pagination(
    next: .lastItem("/ShardId"), send: .jsonBody("/ExclusiveStartShardId"),
    request: RequestRule(
      always: RequestConstants(header: ["Content-Type": "application/x-amz-json-1.1"]),
      isQuery: true),
    end: [.flag("/StreamDescription/HasMoreShards")], items: "/StreamDescription/Shards",
    size: PageSize(.jsonBody("/Limit"), default: 100, max: 10_000),
    policy: PagePolicy(failure: amazonFailures), formats: [.json])

  /// What services of Amazon that speak JSON answer with, all with status 400.
  private static let amazonFailures = [
    FailureRule(when: .value("/__type", .contains("Throttl"), statuses: [400]), .throttled),
    FailureRule(
      when: .value("/__type", .contains("ThroughputExceeded"), statuses: [400]), .throttled),
    // Also spelled RequestLimitExceeded and BandwidthLimitExceeded.
    FailureRule(when: .value("/__type", .contains("LimitExceeded"), statuses: [400]), .throttled),
    FailureRule(
      when: .value("/__type", .contains("TooManyRequests"), statuses: [400]), .throttled),
    FailureRule(
      when: .value("/__type", .contains("NextToken"), statuses: [400]), .expired,
      message: .firstOf(["/message", "/Message"])),
    FailureRule(
      when: .value("/__type", .contains("PaginationToken"), statuses: [400]), .expired,
      message: .firstOf(["/message", "/Message"])),
  ]

  /// Services of Amazon that take forms and answer in XML: `<ListUsersResponse><ListUsersResult>
  /// <IsTruncated>true</IsTruncated><Marker>…</Marker><Users><member>…`.
  ///
  /// For POST, its body a form with `Action`, or for GET, with `Action` in the query: the token goes
  /// where that is. Page size: `MaxItems` or `MaxRecords`, as the service has it.
  /// - Parameters:
  ///   - items: Where the items are, such as `/ListUsersResponse/ListUsersResult/Users/member`.
  ///   - size: The parameter for the page size.
  public static func awsQuery(items: ItemSelector, size: String = "MaxItems") -> Pagination {
    Pagination(
      next: .firstOf([
        Route(.body("//NextToken"), send: .parameter("NextToken")),
        Route(.body("//Marker"), send: .parameter("Marker")),
      ]),
      request: RequestRule(isQuery: true), end: [.flag("//IsTruncated")], items: items,
      size: PageSize(.parameter(size)),
      policy: PagePolicy(failure: [
        FailureRule(
          when: .value("//Error/Code", .contains("Throttl")), .throttled,
          message: "//Error/Message"),
        FailureRule(
          when: .value("//Error/Code", .contains("NextToken")), .expired,
          message: "//Error/Message"),
      ]), formats: [.xml])
  }

  /// Route 53's ListResourceRecordSets: `<IsTruncated>true</IsTruncated><NextRecordName>…
  /// <NextRecordType>…`.
  ///
  /// Page size: `maxitems`, 300 by default and at most. The cursor has up to three parts: those
  /// that the page leaves out are left out of the request.
  public static let route53 = Pagination(
    next: .all([
      "name": .body("/ListResourceRecordSetsResponse/NextRecordName"),
      "type": .body("/ListResourceRecordSetsResponse/NextRecordType"),
      "identifier": .body("/ListResourceRecordSetsResponse/NextRecordIdentifier"),
    ]),
    send: .queryMerge, end: [.flag("/ListResourceRecordSetsResponse/IsTruncated")],
    items: "/ListResourceRecordSetsResponse/ResourceRecordSets/ResourceRecordSet",
    size: PageSize(.query("maxitems"), default: 300, max: 300),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("//Error/Code", .contains("Throttl")), .throttled, message: "//Error/Message")
    ]), formats: [.xml])

  /// Amazon MWS and what is built like it: `<ListOrdersResponse><ListOrdersResult><NextToken>…`.
  ///
  /// No page size. Goes on with the action `…ByNextToken`, the token and who asks, and nothing else.
  /// - Parameters:
  ///   - action: The first request's action, such as `ListOrders`.
  ///   - items: Where the items are.
  public static func mws(action: String, items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("//NextToken"), send: .query("NextToken"),
      request: RequestRule(
        keep: .only([
          "AWSAccessKeyId", "MWSAuthToken", "Merchant", "SellerId", "SignatureMethod",
          "SignatureVersion", "Version",
        ]),
        then: RequestChange(set: RequestConstants(query: ["Action": action + "ByNextToken"]))),
      items: items,
      policy: PagePolicy(failure: [
        FailureRule(
          when: .value("//Error/Code", .contains("Throttled")), .throttled,
          message: "//Error/Message")
      ]), formats: [.xml])
  }

  static let amazonPresets = [
    PaginationPreset("dynamoDB", "Items, LastEvaluatedKey in a POST body", .dynamoDB),
    PaginationPreset("aws", "items elsewhere, NextToken in a POST body", .aws(items: "/Items")),
    PaginationPreset(
      "kinesis", "StreamDescription.Shards, the last ShardId, HasMoreShards", .kinesis),
    PaginationPreset(
      "awsQuery", "items elsewhere, NextToken or Marker in a form or the query",
      .awsQuery(items: "/ListUsersResponse/ListUsersResult/Users/member")),
    PaginationPreset("route53", "ResourceRecordSet, three names, IsTruncated", .route53),
    PaginationPreset(
      "mws", "items elsewhere, NextToken, another Action",
      .mws(action: "ListOrders", items: "/ListOrdersResponse/ListOrdersResult/Orders/Order")),
  ]
}
