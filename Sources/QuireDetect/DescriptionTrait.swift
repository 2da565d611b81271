import QuireCore
import QuirePagination

/// A feature that a description expects of an answer or its request, such as a member with the
/// total.
struct DescriptionTrait: Hashable {
  /// The part of the description that the trait belongs to.
  enum Role: Hashable {
    case items, next, flag, total, pages, mark, echo, parameter, size, constant
  }

  /// The place in an answer or request where the trait is found, and the value that it must have.
  enum Probe: Hashable {
    case items(Pagination.Items)
    case value(Pagination.ValueSource)
    case link(relation: String, conditions: [String: String])
    case sent(Pagination.Placement)
    case constant(Pagination.Placement, String)
  }

  var role: Role
  var probe: Probe
  /// Whether the trait belongs to one of several routes to the next page, any of which is enough.
  var isAlternative = false

  init(_ role: Role, _ probe: Probe, isAlternative: Bool = false) {
    self.role = role
    self.probe = probe
    self.isAlternative = isAlternative
  }

  /// The trait without `isAlternative`, so that equal expectations of two descriptions compare
  /// equal.
  var key: DescriptionTrait { DescriptionTrait(role, probe) }

  /// The trait split by place and format.
  var parts: [DescriptionTrait] {
    switch probe {
    case .items(let items):
      items.paths.flatMap(\.sides).map { DescriptionTrait(role, .items(.path($0))) }
    case .value(let source): source.parts.map { DescriptionTrait(role, .value($0)) }
    case .link, .sent, .constant: [key]
    }
  }
}

extension PagePath {
  /// The path for each format, if it is written for both.
  var sides: [PagePath] {
    let sides = Self.sides(of: text)
    return sides.count == 1 ? [self] : sides.compactMap { try? PagePath(String($0)) }
  }
}

extension Pagination.ValueSource {
  /// The source split by place and format.
  var parts: [Pagination.ValueSource] {
    switch self {
    case .body(let path): path.sides.map { .body($0) }
    case .lastItem(let path): path.sides.map { .lastItem($0) }
    case .firstOf(let sources): sources.flatMap(\.parts)
    case .header, .count, .linkParameter, .linkQueryItem, .contentRangeTotal: [self]
    }
  }
}

extension Pagination {
  /// The routes to the next page.
  var routes: [Pagination.Route] { next.routes(by: send) }

  /// The traits of the description, each once.
  var traits: [DescriptionTrait] {
    var traits = [DescriptionTrait(.items, .items(items))]
    traits += routes.flatMap { $0.traits(isAlternative: routes.count > 1) }
    for rule in end + [total.map(Pagination.End.total)].compactMap(\.self) {
      traits += rule.traits
    }
    if let echo = size?.echo { traits.append(DescriptionTrait(.echo, .value(.body(echo)))) }
    if let send = size?.send { traits.append(DescriptionTrait(.size, .sent(send))) }
    traits += request.carry.values.map { DescriptionTrait(.mark, .value($0.from)) }
    for source in [previous?.from, resume?.next].compactMap(\.self) {
      traits += Pagination.Route(source, send: .url).traits(isAlternative: true).map {
        DescriptionTrait(.mark, $0.probe)
      }
    }
    traits += request.always.query.map {
      DescriptionTrait(.constant, .constant(.query($0.key), $0.value))
    }
    traits += request.always.header.map {
      DescriptionTrait(.constant, .constant(.header($0.key), $0.value))
    }
    traits += policy.failure.compactMap(\.when.value).map { DescriptionTrait(.mark, .value($0)) }
    var seen: Set<DescriptionTrait> = []
    return traits.filter { seen.insert($0.key).inserted }
  }
}

extension Pagination.Route {
  func traits(isAlternative: Bool) -> [DescriptionTrait] {
    var traits = next.probes.map {
      DescriptionTrait(.next, $0, isAlternative: isAlternative)
    }
    if case .offset(_, .body(let path)) = next.untransformed {
      traits.append(DescriptionTrait(.echo, .value(.body(path))))
    }
    if case .pageNumber(_, let path?) = next.untransformed {
      traits.append(DescriptionTrait(.echo, .value(.body(path))))
    }
    if send != .url { traits.append(DescriptionTrait(.parameter, .sent(send))) }
    return traits
  }
}

extension Pagination.Next {
  /// Returns the path of the links in an index, because a list without links is no index.
  private static func links(_ link: PagePath, in list: PagePath) -> PagePath {
    (try? PagePath("\(list.text)/*\(link.text) | \(list.text)\(link.text)")) ?? list
  }

  /// The probes for the continuation; empty if pages or items are counted.
  var probes: [DescriptionTrait.Probe] {
    switch self {
    case .linkHeader(let relation, let conditions):
      [.link(relation: relation, conditions: conditions)]
    case .header(let name): [.value(.header(name))]
    case .body(let path): [.value(.body(path))]
    case .lastItem(let path), .firstItem(let path), .maxItem(let path): [.value(.lastItem(path))]
    case .contentRange: [.value(.header("Content-Range"))]
    case .index(let list, let link, _): [.value(.body(Self.links(link, in: list)))]
    case .transformed(.linkHeader(let relation, _), .queryItem(let name)):
      [.value(.linkQueryItem(name, rel: relation))]
    case .transformed(let source, _): source.probes
    case .all(let sources): sources.sorted { $0.key < $1.key }.flatMap { $0.value.probes }
    case .offset, .pageNumber, .firstOf: []
    }
  }
}

extension Pagination.End {
  var traits: [DescriptionTrait] {
    let role: DescriptionTrait.Role =
      switch self {
      case .flag: .flag
      case .total(let total): total.kind == .pages ? .pages : .total
      default: .mark
      }
    return source.map { [DescriptionTrait(role, .value($0))] } ?? []
  }
}

extension DescriptionTrait {
  /// The keys of the signs that the trait explains.
  var names: Set<String> {
    switch probe {
    case .value(let source): source.signKeys
    case .link(let relation, _): relation == "next" ? ["link:next"] : []
    case .items, .sent, .constant: []
    }
  }

  /// The place in words, for messages.
  var place: String {
    switch probe {
    case .items(let items): items.paths.map(\.place).joined(separator: " or ")
    case .value(let source): source.place
    case .link(let relation, _): "the link with rel=\"\(relation)\" in the header"
    case .sent(let placement), .constant(let placement, _): placement.place
    }
  }

  /// Returns the evidence for a found trait in words; nil for a total that is no number. Quotes
  /// only numbers and flags, because other values may be secrets.
  func words(for value: JSONValue?, count: Int) -> String? {
    switch role {
    case .items:
      let items = count.counted("item")
      let isRoot = probe == .items(.root)
      return isRoot ? "the page is a list of \(items)" : "\(place) has \(items)"
    case .next: return "\(place) has the continuation: \(Self.kind(of: value))"
    case .flag: return "\(place) is \(value?.boolean == true ? "true" : "false")"
    case .total: return value?.count.map { "\(place) says \($0)" }
    case .pages: return value?.count.map { "\(place) says \($0) pages" }
    case .echo, .mark: return "\(place) is there"
    case .parameter, .constant, .size: return "the request has \(place)"
    }
  }

  private static func kind(of value: JSONValue?) -> String {
    switch value {
    case .string(let text)?:
      DetectorSign.isLink(text) ? "a link" : "a text of \(text.utf8.count) bytes"
    case .number?: "a number"
    case .array?: "a list"
    case .object?: "an object"
    case .bool?, .null?, nil: "a value"
    }
  }
}

extension Pagination.ValueSource {
  /// The keys of the signs that the source explains.
  fileprivate var signKeys: Set<String> {
    switch self {
    case .header(let name): ["field:" + PaginationVocabulary.normalized(name)]
    case .linkParameter(_, let relation), .linkQueryItem(_, let relation):
      relation == "next" ? ["link:next"] : []
    case .firstOf(let sources): sources.reduce(into: []) { $0.formUnion($1.signKeys) }
    case .body, .lastItem, .count, .contentRangeTotal: Set(names)
    }
  }

  /// The place in words, for messages.
  fileprivate var place: String {
    switch self {
    case .body(let path): path.place
    case .header(let name): "the header field \(name)"
    case .lastItem(let path): path.text.isEmpty ? "the last item" : "\(path.place) of the last item"
    case .count(let path): "the length of \(path.place)"
    case .linkParameter(let name, let rel): "\"\(name)\" of the link with rel=\"\(rel)\""
    case .linkQueryItem(let name, let rel): "\"\(name)\" in the link with rel=\"\(rel)\""
    case .contentRangeTotal: "Content-Range"
    case .firstOf(let sources): sources.map(\.place).joined(separator: " or ")
    }
  }
}

extension Pagination.Placement {
  /// The place in words, for messages.
  var place: String {
    switch self {
    case .query(let name, _): "the parameter \"\(name)\""
    case .header(let name): "the header field \(name)"
    case .jsonBody(let path): "\"\(path.text)\" in its body"
    case .form(let name): "\"\(name)\" in its form"
    case .xmlBody(let path): "\"\(path.text)\" in its body"
    case .path(let text, _), .placeholder(let text, _): "the placeholder \(text)"
    case .itemRange: "a range of items"
    case .firstOf(let placements): placements.last?.place ?? "a link"
    case .url, .request, .queryMerge, .bodyMerge: "a link"
    }
  }
}
