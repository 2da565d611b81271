import QuirePagination
import HTTPTypes
import QuireCore

/// A value or link in an answer whose name suggests paging, and which a description should explain.
struct DetectorSign: Hashable {
  enum Kind: Hashable { case link, field, token, flag, total, pages }

  var kind: Kind
  /// The name, by `PaginationVocabulary.normalized`.
  var name: String
  /// The path, or the name of a header field.
  var place: String
  /// The value; nil if it is null or blank.
  var value: JSONValue?
  /// Whether the value is a link.
  var isLink: Bool {
    guard let link = value?.link else { return false }
    return Self.isLink(link) || place.contains("rel=") || place.contains("relation=")
  }

  /// Whether a text looks like a link.
  static func isLink(_ text: String) -> Bool {
    let text = text.trimmingBlanks
    if ["https://", "http://", "?", "./", "../"].contains(where: text.hasPrefix) { return true }
    // A relative link with a query, such as `list?page=2`.
    if text.drop(while: { $0 != "?" }).contains("="), !text.contains(where: \.isWhitespace) {
      return true
    }
    // A Base64 token may begin with a slash too.
    return text.hasPrefix("/") && !text.hasPrefix("//") && !text.hasSuffix("=")
      && !text.contains("+")
  }

  /// Whether the answer may have signs. A quick check that parses no presets, because most unpaged
  /// answers have none.
  static func areExpected(in answer: PageAnswer) -> Bool {
    if answer.links.first(relation: "next") != nil { return true }
    for field in answer.headerFields.prefix(200) {
      let name = PaginationVocabulary.normalized(field.name.rawName)
      if PaginationVocabulary.mayKnow(field: name) { return true }
    }
    guard let document = answer.document as? any OutlinedDocument else { return false }
    return document.outline.nodes.contains { node in
      let name = PaginationVocabulary.normalized(node.name)
      return !node.isInList && (PaginationVocabulary.mayKnow(name) || isContinuation(name))
    }
  }

  /// Returns the signs of an answer. Their number is bounded by the outline.
  static func all(
    in answer: PageAnswer, outline: PageOutline, vocabulary: PaginationVocabulary
  ) -> [DetectorSign] {
    var signs = Self.fields(of: answer, vocabulary)
    let alone = answer.document.isXML ? outline.loneElements(named: vocabulary.lists) : []
    let hasList = outline.nodes.contains { node in
      node.kind == .list && !node.isInList && !node.isBesideItems
    }
    var parameters: [String] = []
    for node in outline.nodes where !node.isInList {
      if (alone + parameters).contains(where: { node.path.hasPrefix($0 + "/") }) { continue }
      let name = meaningfulName(of: node)
      // The object around an address is the sign already.
      if name != node.name, signs.contains(where: { node.path.hasPrefix($0.place + "/") }) {
        continue
      }
      // Pages of items link to the first and last page for jumps. In a collection without items
      // such a link may be the beginning of the listing.
      if hasList, ends.contains(PaginationVocabulary.normalized(name)) { continue }
      if let sign = self.parameters(in: node, of: answer) {
        signs.append(sign)
        parameters.append(node.path)
      } else {
        let own = Self.signs(of: node, vocabulary)
        signs += own.isEmpty ? keys(in: node, of: answer, outline, vocabulary) : own
      }
    }
    let hasContinuation = signs.contains {
      [.link, .field, .token].contains($0.kind) && $0.value != nil
    }
    return hasContinuation
      ? signs
      : signs + offsets(beside: signs, in: answer, outline, vocabulary)
        + ownLinks(in: answer, outline).prefix(1)
  }

  /// Returns the signs in the header fields: a next link, and fields named like continuations.
  private static func fields(
    of answer: PageAnswer, _ vocabulary: PaginationVocabulary
  ) -> [DetectorSign] {
    let link = answer.links.first(relation: "next").map { link in
      DetectorSign(kind: .link, name: "next", place: "Link", value: .string(link.target))
    }
    let named = answer.headerFields.prefix(200).compactMap { field -> DetectorSign? in
      let name = PaginationVocabulary.normalized(field.name.rawName)
      guard vocabulary.nextFields[name] != nil || vocabulary.continuationName(inField: name) != nil
      else { return nil }
      return DetectorSign(
        kind: .field, name: name, place: field.name.rawName, value: .string(field.value))
    }
    return [link].compactMap(\.self) + named
  }

  /// The name that tells what a value is: of a link's address, that of what is around it, as in
  /// `<nextPage rdf:resource="…"/>`.
  private static func meaningfulName(of node: PageOutline.Node) -> String {
    let names = node.path.split(separator: "/")
    let isAddress = PaginationVocabulary.addresses.contains(
      PaginationVocabulary.normalized(node.name))
    return isAddress && names.count > 1 ? String(names[names.count - 2]) : node.name
  }

  /// Returns the signs of numbers called offset beside a flag that says that more follows, such as
  /// `"has-more": true, "vid-offset": 204727`, unless the request says where the page starts: without
  /// that, a first page starts at 0 or 1.
  private static func offsets(
    beside signs: [DetectorSign], in answer: PageAnswer, _ outline: PageOutline,
    _ vocabulary: PaginationVocabulary
  ) -> [DetectorSign] {
    let containers = signs.filter { $0.kind == .flag && $0.saysMore(vocabulary) }
      .map { PageOutline.container(of: $0.place) }
    let sent = PaginationDetector.parameters(of: RequestEditor(answer.request))
    return outline.nodes.compactMap { node in
      let name = PaginationVocabulary.normalized(node.name)
      guard node.kind == .scalar, !node.isInList, name.hasSuffix("offset"),
        let number = node.value?.integer, number > 1,
        containers.contains(PageOutline.container(of: node.path)),
        !sent.contains(where: { vocabulary.isOffset($0.name) || $0.value.integer == number })
      else { return nil }
      return DetectorSign(kind: .token, name: name, place: node.path, value: node.value)
    }
  }

  /// Returns the signs of links to the listing itself with further or other parameters, all of which
  /// have digits, under a name that says nothing: `<URL>…?id_min=204727</URL>`.
  private static func ownLinks(in answer: PageAnswer, _ outline: PageOutline) -> [DetectorSign] {
    guard let own = try? URLReference(answer.request.url) else { return [] }
    let sent = QueryString(own.query)
    return outline.nodes.filter { node in
      let name = PaginationVocabulary.normalized(node.name)
      guard node.kind == .scalar, !node.isInList, let text = node.value?.string, isLink(text),
        !ownNames.contains(where: name.contains), let link = try? URLReference(text),
        link.path == own.path
      else { return false }
      let query = QueryString(link.query)
      let others = query.pairs.compactMap { name, _ in
        query[name].flatMap { $0 == sent[name] ? nil : $0 }
      }.filter { $0 != "0" && $0 != "1" }
      return !others.isEmpty && others.allSatisfy { $0.contains(where: \.isNumber) }
        && sent.pairs.allSatisfy { query[$0.name] != nil }
    }.map { node in
      let names = (try? PagePath(node.path)).map(PaginationVocabulary.names(of:)) ?? []
      return DetectorSign(
        kind: .token, name: names.first ?? "", place: node.path, value: node.value)
    }
  }

  /// Parts of names of links to the page itself, and to others than the next one.
  private static let ownNames = ["canonical", "current", "first", "last", "perma", "prev", "self"]

  /// Returns the sign of an object whose members are the parameters of the next request, such as
  /// `"next_page_params": {"index": 3, …}`; nil for other nodes.
  private static func parameters(
    in node: PageOutline.Node, of answer: PageAnswer
  ) -> DetectorSign? {
    let name = PaginationVocabulary.normalized(node.name)
    guard node.kind == .object, node.value == nil, let path = try? PagePath(node.path),
      name.hasPrefix("next") || ["continue", "lastindexes"].contains(name),
      case .object(let members)? = try? answer.document.value(at: path), members.count <= 20,
      members.allSatisfy({ member in
        switch member.value {
        case .string(let text): PageOutline.keeps(text) && !isLink(text)
        case .number, .bool, .null: true
        case .array, .object: false
        }
      }), members.contains(where: { !$0.value.isBlank }),
      // A link of a row of page numbers, `{"page": 2, "active": true}`, tells what it looks like.
      !members.contains(where: { PaginationVocabulary.normalized($0.name) == "active" })
    else { return nil }
    return DetectorSign(kind: .token, name: name, place: node.path, value: .object(members))
  }

  /// Returns the sign of a value that the last item has as well and whose name says so, such as
  /// `"last_appid": 730`.
  private static func keys(
    in node: PageOutline.Node, of answer: PageAnswer, _ outline: PageOutline,
    _ vocabulary: PaginationVocabulary
  ) -> [DetectorSign] {
    let name = PaginationVocabulary.normalized(node.name)
    guard name.hasPrefix("last"), node.kind == .scalar, let value = node.value, !value.isBlank,
      vocabulary.totals[name] == nil, let list = outline.likelyList(vocabulary),
      let items = (try? PagePath(list.path)).map(Pagination.Items.path),
      case .object(let members)? = try? answer.document.value(at: "", inLastItemOf: items),
      members.contains(where: { $0.value.plainText == value.plainText })
    else { return [] }
    return [DetectorSign(kind: .token, name: name, place: node.path, value: value)]
  }

  /// Names of links that do not lead to the next page.
  private static let ends: Set<String> = [
    "first", "last", "prev", "previous", "prevcursor", "previouscursor", "prevpage", "previouspage",
  ]

  private static func signs(
    of node: PageOutline.Node, _ vocabulary: PaginationVocabulary
  ) -> [DetectorSign] {
    let written = meaningfulName(of: node)
    let whole = PaginationVocabulary.normalized(written)
    // `oslc:nextPage` counts by what stands behind the namespace, where the whole name is unknown.
    let isKnown =
      vocabulary.flags[whole] != nil || vocabulary.next[whole] != nil
      || vocabulary.totals[whole] != nil
    let local = written.split(separator: ":").last.map {
      PaginationVocabulary.normalized(String($0))
    }
    let name = isKnown ? whole : local ?? whole
    func sign(_ kind: Kind) -> DetectorSign {
      let value = node.value.flatMap { $0.isBlank ? nil : $0 }
      return DetectorSign(kind: kind, name: name, place: node.path, value: value)
    }
    guard node.kind == .scalar || node.value != nil else { return [] }
    var signs: [DetectorSign] = []
    if vocabulary.flags[name] != nil, node.value?.boolean != nil {
      signs.append(sign(.flag))
    } else if vocabulary.next[name] != nil || isContinuation(name) {
      if case .bool? = node.value { return [] }
      if let value = node.value, vocabulary.isEcho(value, named: name) { return [] }
      signs.append(sign(.token))
    }
    if let kind = vocabulary.totals[name], node.value?.count != nil {
      signs.append(sign(kind == .pages ? .pages : .total))
    }
    return signs
  }

  /// Whether a name that no preset uses looks like a continuation, such as `continue_from` or
  /// `next_collection_link`.
  private static func isContinuation(_ name: String) -> Bool {
    let starts = ["continue", "continuation", "nextcursor", "nextpage", "nexttoken", "resumefrom"]
    let ends = [
      "batch", "bookmark", "cursor", "from", "href", "id", "index", "key", "link", "marker", "name",
      "offset", "position", "start", "startwith", "token", "uri", "url",
    ]
    let wholes = [
      "aftercursor", "continuation", "continuationtoken", "endcursor", "nextcursor", "nextmarker",
      "nexttoken", "pagekey", "resumptiontoken",
    ]
    return name == "lastkey" || name == "lastevaluatedkey"
      || starts.contains(where: name.hasPrefix) || wholes.contains(where: name.hasSuffix)
      || name.hasPrefix("next") && ends.contains(where: name.hasSuffix)
  }

  /// Whether the sign indicates that another page follows.
  func saysMore(_ vocabulary: PaginationVocabulary) -> Bool {
    switch kind {
    case .link, .field, .token: value != nil
    case .flag: value?.boolean == (vocabulary.flags[name] ?? true)
    case .pages: value?.count ?? 0 > 1
    case .total: false
    }
  }
}
