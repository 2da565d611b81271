import Foundation
import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Synchronization
import TestSupport
import Testing

@testable import QuireAWS

/// The examples that Amazon publishes: its Signature Version 4 test suite (Apache License 2.0), whose
/// requests are signed by `AKIDEXAMPLE` on 30 August 2015, and those in the reference of S3.
@Suite("Amazon's signature")
struct AWSSignatureTests {
  private static let signature = AWSSignature(
    credentials: AWSCredentials(
      accessKey: "AKIDEXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
    region: "us-east-1", service: "service")

  struct Example: Sendable, CustomTestStringConvertible {
    var name: String
    var method = "GET"
    var target = "/"
    var fields: [[String]] = []
    var body = ""
    var signature: String

    var testDescription: String { name }
  }

  private static let examples = [
    Example(
      name: "get-vanilla",
      signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    Example(
      name: "get-vanilla-query-order-key-case", target: "/?Param2=value2&Param1=value1",
      signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    Example(
      name: "get-unreserved",
      target: "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
      signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
    Example(
      name: "get-utf8", target: "/ሴ",
      signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
    Example(
      name: "post-vanilla", method: "POST",
      signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    Example(
      name: "post-x-www-form-urlencoded", method: "POST",
      fields: [["Content-Type", "application/x-www-form-urlencoded"]], body: "Param1=value1",
      signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
  ]

  @Test("The published examples come out to the byte", arguments: examples)
  func published(_ example: Example) {
    let time = "20150830T123600Z"
    let fields =
      [("host", "example.amazonaws.com"), ("x-amz-date", time)]
      + example.fields.map { ($0[0], $0[1]) }
    let signature = Self.signature
    let canonical = signature.canonicalRequest(
      method: example.method, target: example.target, fields: fields,
      digest: Digest.hexadecimal(Digest.sha256(Array(example.body.utf8))))
    let authorization = signature.authorization(for: canonical, fields: fields, time: time)
    #expect(authorization.hasSuffix("Signature=\(example.signature)"), "\(canonical)")
    #expect(
      authorization.hasPrefix(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
          + "SignedHeaders="))
  }

  @Test(
    "S3's published example of a listing comes out to the byte, digest and all",
    arguments: ["", ":443"])
  func listing(port: String) async throws {
    let transport = Recorder()
    var configuration = PageClient.Configuration()
    configuration.signer = .aws(
      AWSCredentials(
        accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
      region: "us-east-1", service: "s3")
    var environment = PageClient.Environment()
    environment.now = { 1_369_353_600 }
    let client = PageClient(transport: transport, configuration: configuration).with(environment)
    let cursor = client.cursor(
      of: Int.self, at: "https://examplebucket.s3.amazonaws.com\(port)/?max-keys=2&prefix=J",
      pagination: .linkHeader)
    for try await _ in cursor {}
    let fields = try #require(transport.requests.first).head.headerFields
    #expect(
      fields[.authorization]
        == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        + "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "
        + "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    #expect(fields[HTTPField.Name("x-amz-date") ?? .date] == "20130524T000000Z")
  }

  /// Returns the fields of a signed request.
  private static func signed(
    _ target: String, _ fields: HTTPFields = [:], service: String
  ) -> HTTPFields {
    var signature = signature
    signature.service = service
    var head = HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: target)
    head.headerFields = fields
    var request = TransportRequest(head: head)
    signature.sign(&request, at: Date(timeIntervalSince1970: 1_440_938_160))
    return request.head.headerFields
  }

  @Test("A request is signed by what it says and not by how its URL is spelled, as S3 does")
  func spelling() {
    func signature(_ target: String, _ service: String) -> String? {
      Self.signed(target, service: service)[.authorization]
    }
    for service in ["s3-object-lambda", "s3-outposts", "s3express"] {
      #expect(signature("/a%2Fb", service) == signature("/a/b", service))
    }
    for (one, other) in [
      ("/a(b)!'*+,;=@$[x]", "/a%28b%29%21%27%2A%2B%2C%3B%3D%40%24%5Bx%5D"), ("/%7e%c3%a9", "/~é"),
      ("/%FF", "/%ff"), ("/a//../b", "/a/%2F..%2Fb"),
    ] {
      #expect(signature(one, "s3") == signature(other, "s3"))
    }
    #expect(signature("/a/../b", "s3") != signature("/b", "s3"))
    for service in ["s3", "service"] {
      #expect(signature("/?q=%FF", service) == signature("/?q=%ff", service))
      #expect(signature("/?q=%FF", service) != signature("/?q=%FE", service))
      #expect(signature("/?q=%FF", service) != signature("/?q=%EF%BF%BD", service))
    }
  }

  @Test("A host and a digest of the body that the request's own fields give are what is signed")
  func ownFields() throws {
    let host = try #require(HTTPField.Name("Host"))
    let digest = try #require(HTTPField.Name("x-amz-content-sha256"))
    let own = Self.signed("/", [host: "b.test"], service: "service")
    let signature = Self.signature
    let time = "20150830T123600Z"
    let fields = [("host", "b.test"), ("x-amz-date", time)]
    let canonical = signature.canonicalRequest(
      method: "GET", target: "/", fields: fields, digest: Digest.hexadecimal(Digest.sha256([])))
    #expect(
      own[.authorization] == signature.authorization(for: canonical, fields: fields, time: time))
    for service in ["s3", "service"] {
      let unsigned = Self.signed("/", [digest: "UNSIGNED-PAYLOAD"], service: service)
      var signature = signature
      signature.service = service
      let fields = [
        ("host", "a.test"), ("x-amz-content-sha256", "UNSIGNED-PAYLOAD"), ("x-amz-date", time),
      ]
      let canonical = signature.canonicalRequest(
        method: "GET", target: "/", fields: fields, digest: "UNSIGNED-PAYLOAD")
      #expect(unsigned[digest] == "UNSIGNED-PAYLOAD")
      #expect(
        unsigned[.authorization]
          == signature.authorization(for: canonical, fields: fields, time: time))
    }
  }

  @Test("H-8: credentials that are printed or dumped show no secret")
  func printed() {
    let credentials = AWSCredentials(
      accessKey: "AKID", secretKey: "hunter22", sessionToken: "canary33")
    var texts = ["\([credentials])", String(reflecting: credentials), ""]
    dump(credentials, to: &texts[2])
    for text in texts {
      #expect(text.contains("AKID") && !text.contains("hunter22") && !text.contains("canary33"))
    }
  }

  @Test("Every page and every attempt is signed anew, and nothing is signed for another origin")
  func everyPage() async throws {
    let transport = Recorder(pages: [
      #"{"items":[1],"next":"?p=2"}"#, nil, #"{"items":[2],"next":"https://b.test/?p=3"}"#,
      #"{"items":[3]}"#,
    ])
    let clock = Mutex(1_369_353_600.0)
    var configuration = PageClient.Configuration()
    configuration.retry.delay = .zero
    configuration.signer = .aws(region: "r", service: "s") {
      AWSCredentials(accessKey: "A", secretKey: "S", sessionToken: "T")
    }
    var environment = PageClient.Environment()
    environment.now = {
      clock.withLock {
        $0 += 1
        return $0
      }
    }
    let client = PageClient(transport: transport, configuration: configuration).with(environment)
    let pagination = Pagination(
      next: .body("/next"), items: "/items", policy: Pagination.Policy(links: .allow(["b.test"])))
    for try await _ in client.cursor(of: Int.self, at: "https://a.test/", pagination: pagination) {}
    let signatures = transport.requests.map { $0.head.headerFields[.authorization] }
    #expect(signatures.count == 4)
    #expect(Set(signatures.prefix(3)).count == 3)
    #expect(signatures.prefix(3).allSatisfy { $0?.contains("x-amz-security-token") == true })
    #expect(signatures[3] == nil)
  }

  /// Answers with these pages, and with 503 where there is none.
  private final class Recorder: HTTPTransport {
    private let pages: [String?]
    private let log = Mutex<[TransportRequest]>([])

    init(pages: [String?] = ["[]"]) { self.pages = pages }

    var requests: [TransportRequest] { log.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      let index = log.withLock {
        $0.append(request)
        return $0.count - 1
      }
      guard let page = pages[index] else {
        return TransportResponse(
          head: HTTPResponse(status: .serviceUnavailable), body: .bytes([]))
      }
      return TransportResponse(
        head: HTTPResponse(status: .ok), body: .bytes(Array(page.utf8)))
    }
  }
}
