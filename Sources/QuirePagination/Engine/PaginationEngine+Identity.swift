import HTTPTypes
package import QuireCore

/// By what a listing over HTTP is known: how it goes on and what it asks for, without what changes
/// from page to page, and without secrets, which may be others tomorrow.
///
/// Header fields do not count, for most of them are credentials or name the program. Neither does what ends or limits a
/// walk, what is a failure, or how fast pages come: a position means the same page whatever these say.
extension PaginationEngine {
  /// The identity of this listing.
  package var identity: ListingIdentity {
    let policy = pagination.policy
    let reopens =
      switch policy.expiry {
      case .fail, .restart: false
      case .reopen, .resume, .reanchor: true
      }
    return ListingIdentity(
      closesWithWalk: policy.close != nil && !reopens, countsPages: countsPages,
      parts: { [self] in identityParts })
  }

  private var identityParts: [ListingIdentity.Part] {
    var editor = RequestEditor(base)
    for placement in changingPlacements { editor.blank(placement) }
    for route in routes + backwardRoutes {
      guard case .all(let sources) = route.next.root else { continue }
      editor.drop(sources.keys)
      guard route.send == .bodyMerge else { continue }
      for name in sources.keys {
        if let path = try? PagePath(name) { editor.blank(.jsonBody(path)) }
      }
    }
    let url = try? editor.url.get()
    let query = Self.essence(of: editor.query)
    let body = Self.essence(of: editor.base.body)
    let size = pagination.size?.send == nil ? nil : pageSize
    return [
      .init("description", Self.digest(ofDescription: pagination), "the description"),
      .init("method", base.method.rawValue, "the method", isReadable: true),
      .init("origin", Self.digest(home.description), "the host"),
      .init("path", Self.digest(url?.path ?? ""), "the URL's path"),
      .init("query", query.isEmpty ? "" : Self.digest(query), "the URL's parameters"),
      .init("body", body.isEmpty ? "" : Self.digest(body), "the body"),
      .init(
        ListingIdentity.pageSize, size.map(String.init) ?? "", "the page size", isReadable: true),
    ]
  }

  /// Where something goes that is not the same on every page, and the page size, which is a part of its
  /// own.
  private var changingPlacements: [Pagination.Placement] {
    var placements = (routes + backwardRoutes).map(\.send)
    placements += pagination.request.carry.values.map(\.send)
    if let send = pagination.resume?.send { placements.append(send) }
    if let send = pagination.size?.send { placements.append(send) }
    if case .reanchor(let send, _) = pagination.policy.expiry { placements.append(send) }
    return placements
  }

  /// Whether a position means another place where pages have another size: by the page's number,
  /// however it was counted, and inside a page that is delivered from its end.
  private func countsPages(_ position: Position) -> Bool {
    guard let bookmark = try? Bookmark(position) else { return true }
    if position.itemOffset > 0, pagination.policy.reversesItems { return true }
    let routes = bookmark.isBackward ? backwardRoutes : self.routes
    guard routes.indices.contains(bookmark.route) else { return true }
    switch bookmark.target {
    case .page: return true
    case .start, .url, .offset, .request: return false
    case .token(let token):
      return Self.mayBePageNumber(
        token, by: routes[bookmark.route].next, routes[bookmark.route].send)
    }
  }

  /// Whether a token that a server gave may be a page's number.
  private static func mayBePageNumber(
    _ token: JSONValue, by source: Pagination.Next, _ send: Pagination.Placement
  ) -> Bool {
    switch source.root {
    case .pageNumber: return true
    case .offset, .contentRange, .lastItem, .firstItem, .maxItem: return false
    case .all(let sources):
      return sources.contains { name, source in
        token[name].map { mayBePageNumber($0, by: source, .query(name)) } ?? false
      }
    default: break
    }
    guard token.integer != nil else { return false }
    let name =
      switch send {
      case .query(let name, _), .header(let name), .form(let name): name.lowercased()
      case .jsonBody(let path), .xmlBody(let path): path.text.lowercased()
      default: ""
      }
    return name.contains("page") || !itemWords.contains(where: name.contains)
  }

  /// Words in a parameter's name by which a number in it counts or names items.
  private static let itemWords = [
    "offset", "start", "skip", "from", "since", "after", "before", "seek",
  ]
}

// MARK: - Digests

extension PaginationEngine {
  /// What a position depends on in a description.
  private static func digest(ofDescription pagination: Pagination) -> String {
    var request = pagination.request
    request.isQuery = false
    // They are in the request, and belong to its own parts.
    request.always = Pagination.RequestConstants()
    let essence = Pagination(
      next: pagination.next, send: pagination.send, request: request,
      items: pagination.items.strict,
      policy: Pagination.Policy(
        overlap: pagination.policy.overlap, reversesItems: pagination.policy.reversesItems),
      previous: pagination.previous, resume: pagination.resume)
    return digest(Pagination.grammar.write(essence).sorted.description)
  }

  /// The parameters in the order of their names.
  private static func essence(of query: QueryString) -> String {
    let pairs = query.pairs.filter { !isVolatile($0.name) }
      .map { ($0.name, PercentEncoding.decode($0.encoded[...], plusIsSpace: true)) }
    return pairs.enumerated()
      .sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
      .map { "\($0.element.0)=\($0.element.1)" }.joined(separator: "\n")
  }

  private static func essence(of body: PageRequest.Body) -> String {
    switch body {
    case .none: ""
    case .json(let value): essence(of: value).description
    case .form(let text): essence(of: QueryString(text))
    case .xml(let text): withoutSecrets(xml: text)
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  private static func essence(of value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool, .number, .string: value
    case .array(let elements): .array(elements.map(essence))
    case .object(let members):
      .object(
        members.filter { !isVolatile($0.name) }.sorted { $0.name < $1.name }
          .map { .init($0.name, essence(of: $0.value)) })
    }
  }

  /// The text with nothing in elements that are called like secrets.
  private static func withoutSecrets(xml text: String) -> String {
    text.replacing(#/<(?:[\w.\-]+:)?([\w.\-]+)([^<>]*)>[^<]*<\//#) { match in
      isVolatile(String(match.1)) ? "<\(match.1)></" : String(match.0)
    }
  }

  /// Whether something of that name is a credential or a time, and not what is asked for.
  private static func isVolatile(_ name: String) -> Bool {
    let small = name.lowercased()
    return SecretName.matches(name) || small.hasPrefix("x-amz-") || small.hasPrefix("x-goog-")
  }

  /// Eight hexadecimal digits, the same in every process.
  private static func digest(_ text: String) -> String {
    let hash = ContentWatch.digest(of: [.string(text)])
    let folded = UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    let digits = String(folded, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

extension Pagination.Items {
  /// The same items, where a list that is missing is an error.
  fileprivate var strict: Pagination.Items {
    if case .optional(let selector) = self { return selector.strict }
    if case .members(let selector) = self { return .members(selector.strict) }
    if case .columns(let selector) = self { return .columns(selector.strict) }
    return self
  }
}

extension RequestEditor {
  /// Takes out what stands at a placement, or, where its place must stay, leaves it empty.
  fileprivate mutating func blank(_ placement: Pagination.Placement) {
    if case .xmlBody = placement {
      var blank = self
      if (try? blank.send(.string(""), by: placement, pageSize: nil)) != nil { self = blank }
    } else {
      remove(placement)
    }
  }
}
