import HTTPTypes
import QuireCore
import QuireXML
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// What a request carries.
enum SyntheticCargo: Sendable { case nothing, json, xml, form }

extension SyntheticListing {
  /// Where values go in requests.
  private var placements: [Pagination.Placement] {
    [route.send, pagination.size?.send].compactMap { $0 }
  }

  /// What the walk's requests carry.
  var cargo: SyntheticCargo {
    for placement in placements {
      switch placement {
      case .jsonBody, .bodyMerge: return .json
      case .xmlBody: return .xml
      case .form: return .form
      default: continue
      }
    }
    return pagination.request.isQuery || !pagination.request.always.body.isEmpty ? .json : .nothing
  }

  /// The walk's own request.
  private var request: PageClient.RequestOptions {
    let body: PageRequest.Body
    switch cargo {
    case .nothing: return PageClient.RequestOptions()
    case .json: body = .json(jsonBody)
    case .xml: body = .xml(xmlBody)
    case .form: body = .form("own=x")
    }
    return PageClient.RequestOptions(method: .post, body: body)
  }

  private var jsonBody: JSONValue {
    var body = JSONValue.object([.init("own", "x")])
    var paths = Array(pagination.request.always.body.keys)
    if case .jsonBody(let path) = route.send { paths.append(path) }
    // What the first body must have for values to go into: lists are not made on the way.
    for path in paths where path.steps.contains(where: \.isIndex) {
      let inside = "/" + path.text.split(separator: "/").dropLast().joined(separator: "/")
      if body.value(at: PagePath(stringLiteral: inside)) == nil {
        body = body.planting(.object([]), at: PagePath(stringLiteral: inside))
      }
    }
    return body
  }

  private var xmlBody: String {
    var body = SyntheticBody(.xml, root: "request")
    body.plant("x", at: "/request/own")
    for case .xmlBody(let path) in placements { body.plant("", at: path) }
    return String(decoding: body.bytes, as: UTF8.self)
  }

  /// The walk's own address.
  var url: String {
    var url = "https://api.test/list"
    if case .path(let text, _) = route.send { url += "/\(text)" }
    url += "?own=a%2Bb"
    for (name, placement) in [("from", route.send), ("size", pagination.size?.send)] {
      if case .placeholder(let text, _) = placement { url += "&\(name)=\(text)" }
    }
    return url
  }

  /// Walks the listing and checks items, their order, totals and the number of requests.
  func drain() async throws {
    let server = SyntheticServer(self)
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    // Elsewhere it would cut short what a walk has to close.
    if pagination.policy.pacing != Pagination.Pacing() { configuration.clock = InstantClock() }
    let client = PageClient(transport: server, configuration: configuration)
    var cursor = client.cursor(
      at: url, pagination: pagination, pageSize: pageSize, request: request,
      decoder: AutomaticPageDecoder(
        json: ClosurePageDecoder {
          let item = try $0.value
          return item["number"]?.integer ?? item["value"]?["number"]?.integer ?? -1
        },
        xml: MappedPageDecoder(XMLItemPageDecoder()) {
          try $0.value(at: "/number")?.integer ?? -1
        }))
    // Pages whose only item is a mark are all the same.
    cursor.limits.comparedPages = 0
    var numbers: [Int] = []
    for try await page in cursor {
      numbers += page.items
      if let total = page.total, total.kind == .items {
        #expect(total.value == itemCount, "\(testDescription)")
      }
    }
    // What marks a page may look like an item.
    numbers.removeAll { $0 < 0 }
    #expect(numbers == Array(0..<itemCount), "\(testDescription)")
    #expect(server.requests == requests, "\(testDescription)")
    let policy = pagination.policy
    #expect(server.sides[0] == (policy.open == nil ? 0 : 1), "\(testDescription)")
    if policy.open != nil { #expect(server.sides[1] == 1, "\(testDescription)") }
  }
}

extension PagePath.Step {
  fileprivate var isIndex: Bool {
    if case .name(let name) = self { Int(name) != nil } else { true }
  }
}
