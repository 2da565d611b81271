import QuirePagination
import QuireCore

/// The names that presets use for continuations, flags and totals, the placements of their values,
/// and how rare each is.
struct PaginationVocabulary: Sendable {
  /// The placements of a name's values, and the number of presets for each. A value that is
  /// followed as a link has none.
  struct Placements: Sendable {
    var places: [Pagination.Placement: Int] = [:]

    /// The placements, the most frequent first.
    var ranked: [Pagination.Placement] {
      places.sorted { ($1.value, "\($0.key)") < ($0.value, "\($1.key)") }.map(\.key)
    }
  }

  /// A trait, and the trait split by place.
  struct TraitParts: Sendable {
    var trait: DescriptionTrait
    var parts: [DescriptionTrait]
  }

  /// A preset and its traits.
  struct Entry: Sendable {
    var preset: Pagination.Preset
    var traits: [TraitParts]
    /// The descriptions of aliases that differ from the preset's own.
    var variants: [(name: String, pagination: Pagination)]
    var isGeneric: Bool { preset.isGeneric }

    init(_ preset: Pagination.Preset) {
      self.preset = preset
      traits = PaginationVocabulary.traitParts(
        of: preset.pagination.example.fitted(to: PageRequest(url: "")))
      variants = preset.aliases.compactMap { name in
        preset.pagination(named: name).flatMap { $0 == preset.pagination ? nil : (name, $0) }
      }
    }
  }

  /// The presets.
  let presets: [Entry]
  /// Names of continuations, by `normalized(_:)`.
  private(set) var next: [String: Placements] = [:]
  /// Names of continuations as presets spell them, because a server that writes `next_page_token`
  /// spells its parameters alike.
  private(set) var spelled: [String: Placements] = [:]
  /// Names of header fields that have continuations.
  private(set) var nextFields: [String: Placements] = [:]
  /// Names of flags, and whether `true` means that more follows, in most presets.
  private(set) var flags: [String: Bool] = [:]
  /// Names of totals, and what most presets count by them.
  private(set) var totals: [String: Total.Kind] = [:]
  /// Names of lists.
  private(set) var lists: Set<String> = []
  /// The placements of page numbers and offsets.
  private(set) var pageNumbers = Placements()
  private(set) var offsets = Placements()
  /// The query parameters of page numbers and offsets, by the spelled name of the page size:
  /// `first` beside `max`.
  private var besideSize: [String: Placements] = [:]
  /// Names of page numbers, from presets and elsewhere.
  private(set) var pageNames = PaginationVocabulary.composedPageNames()
  /// Names of offsets, from presets and composed of common words.
  private(set) var offsetNames = PaginationVocabulary.composedOffsetNames()
  /// Names of parameters that take tokens.
  private(set) var tokenParameters: Set<String> = ["after", "cursor", "marker", "token"]
  private var frequencies: [DescriptionTrait: Int] = [:]
  private let count: Int

  /// The vocabulary of all presets.
  static let shared = PaginationVocabulary(Pagination.presets)

  /// The names that presets may know, and a few more: taken from the text of the presets, at a
  /// fraction of the cost of parsing them.
  private static let possibleNames = Set(Pagination.Preset.paths().flatMap { names(of: $0) })

  private static let possibleFields = Set(Pagination.Preset.headerFields().map(normalized))

  /// Whether a preset may know the name. The root of a JSON page has an empty name.
  static func mayKnow(_ name: String) -> Bool {
    !name.isEmpty
      && (possibleNames.contains(name) || usualFlags[name] != nil || usualTotals[name] != nil)
  }

  /// Whether a preset may read a continuation from the header field.
  static func mayKnow(field name: String) -> Bool {
    possibleFields.contains(name) || name.contains("next") || name.hasSuffix("cursor")
      || name.hasSuffix("continuationtoken")
  }

  /// Returns the traits of a description, whole and split.
  static func traitParts(of pagination: Pagination) -> [TraitParts] {
    pagination.traits.map { TraitParts(trait: $0, parts: $0.parts) }
  }

  init(_ presets: [Pagination.Preset]) {
    self.presets = presets.map(Entry.init)
    count = presets.count
    var votes = Votes()
    for entry in self.presets { learn(entry, &votes) }
    for preset in presets {
      for variant in preset.variants {
        let description = variant.example.fitted(to: PageRequest(url: ""))
        for route in description.routes where route.next.isCounter { learn(route) }
        if preset.isGeneric { learnSize(of: description) }
        // A trait that only a variant has counts as one preset's.
        for part in description.traits.flatMap(\.parts) where frequencies[part] == nil {
          frequencies[part] = 1
        }
      }
    }
    flags = votes.flags.mapValues { $0 >= 0 }.merging(Self.usualFlags) { known, _ in known }
    totals = votes.totals.compactMapValues { votes in
      votes.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }?.key
    }.merging(Self.usualTotals) { known, _ in known }
    lists.subtract(["0", "1", ""])
    for sends in next.values {
      tokenParameters.formUnion(sends.places.keys.compactMap(\.parameter).map(Self.normalized))
    }
    pageNames.formUnion(pageNumbers.places.keys.compactMap(\.parameter).map(Self.normalized))
    offsetNames.formUnion(offsets.places.keys.compactMap(\.parameter).map(Self.normalized))
    offsetNames.subtract(pageNames)
  }

  /// The number of presets that use a name in each meaning. For flags, it is the number of presets
  /// where `true` means that more follows, minus the number where it means the end.
  private struct Votes {
    var flags: [String: Int] = [:]
    var totals: [String: [Total.Kind: Int]] = [:]
  }

  private mutating func learn(_ entry: Entry, _ votes: inout Votes) {
    let description = entry.preset.pagination.example.fitted(to: PageRequest(url: ""))
    for part in Set(entry.traits.flatMap(\.parts)) { frequencies[part, default: 0] += 1 }
    for route in description.routes { learn(route) }
    // Names of a single API are signs of that API only.
    if entry.isGeneric { learnSize(of: description) }
    for path in description.items.paths { lists.formUnion(Self.names(of: path)) }
    for case .flag(let rule) in description.end {
      let vote = rule.continuesWhile ? 1 : -1
      for name in rule.source.names { votes.flags[name, default: 0] += vote }
    }
    let totals = description.total.map { [Pagination.End.total($0)] } ?? []
    for case .total(let total) in description.end + totals {
      for name in total.source.names {
        votes.totals[name, default: [:]][total.kind, default: 0] += 1
      }
    }
  }

  /// Common names of flags, for names that no preset has.
  private static let usualFlags = [
    "finished": false, "isend": false, "isfinished": false, "islast": false, "islastpage": false,
    "nomore": false, "hasadditional": true, "hasmore": true, "hasmoreitems": true,
    "havemore": true, "havemoreresults": true,
    "hasmorepages": true, "hasmoreresults": true, "hasnext": true, "hasnextpage": true,
    "ismore": true, "moreavailable": true, "moredataavailable": true, "moreresults": true,
    "moreresultsavailable": true,
  ]

  /// Common names of totals, for names that no preset has: `total_posts`, `totalResultsCount`,
  /// `itemsTotal`.
  private static let usualTotals = composedTotals()

  private static func composedTotals() -> [String: Total.Kind] {
    let things = [
      "count", "doc", "docs", "document", "documents", "element", "elements", "entries", "filtered",
      "hit", "hits", "item", "items", "match", "matched", "matches", "object", "objects", "post",
      "posts", "record", "records", "resource", "resources", "result", "results", "row", "rows",
      "size",
    ]
    var names: [String: Total.Kind] = [
      "found": .items, "totalfound": .items, "numberofresults": .items, "numberofrecords": .items,
      "filtered": .items, "matched": .items, "recordsfiltered": .items, "totalavailable": .items,
    ]
    for thing in things {
      for name in [
        thing + "count", thing + "found", thing + "total", "total" + thing,
        "total" + thing + "count", "totalof" + thing, "totalnumberof" + thing,
        "numberoftotal" + thing,
      ] { names[name] = .items }
    }
    // These are totals unless the number is the length of the page, which `itemTotal` checks.
    for name in ["items", "records"] { names[name] = .items }
    for name in [
      "lastpage", "lastvisiblepage", "maxpage", "numberofpages", "numpages", "pagecount", "pages",
      "pagestotal", "pagetotal", "totalpage", "totalpages",
    ] { names[name] = .pages }
    return names
  }

  /// Returns names of page numbers: `page` with words around it, such as `currentPageIndex` and
  /// `pageNo`, and some that stand alone.
  private static func composedPageNames() -> Set<String> {
    var names: Set<String> = ["current", "p", "pg", "pn"]
    for start in ["", "cur", "current", "start"] {
      for end in ["", "id", "index", "no", "nr", "num", "number"] {
        names.insert(start + "page" + end)
      }
    }
    return names
  }

  /// Returns names of offsets: a few words, alone or combined with a word for the counted things,
  /// such as `rowStart`, `firstResult`, `start_at`, `pagination[start]`.
  private static func composedOffsetNames() -> Set<String> {
    let things = [
      "", "display", "idisplay", "item", "page", "pagination", "record", "result", "row",
    ]
    let words = ["begin", "first", "from", "index", "offset", "pos", "position", "skip", "start"]
    let ends = [
      "", "at", "count", "from", "index", "item", "number", "position", "record", "result", "row",
    ]
    var names: Set<String> = []
    for thing in things {
      for word in words {
        for end in ends { names.insert(thing + word + end) }
      }
    }
    return names
  }

  /// Records the counter that goes with a page size.
  private mutating func learnSize(of description: Pagination) {
    guard case .query(let name, _)? = description.size?.send else { return }
    for route in description.routes where route.next.isCounter {
      guard case .query = route.send else { continue }
      Self.learn(route, in: &besideSize[name, default: Placements()])
    }
  }

  private mutating func learn(_ route: Pagination.Route) {
    switch route.next.untransformed {
    case .body(let path):
      for name in Self.names(of: path) { Self.learn(route, in: &next[name, default: Placements()]) }
      if let name = path.text.split(separator: "/").last {
        Self.learn(route, in: &spelled[String(name), default: Placements()])
      }
    case .header(let name):
      Self.learn(route, in: &nextFields[Self.normalized(name), default: Placements()])
    case .pageNumber: Self.learn(route, in: &pageNumbers)
    case .offset: Self.learn(route, in: &offsets)
    default: break
    }
  }

  private static func learn(_ route: Pagination.Route, in sends: inout Placements) {
    if route.send != .url, route.send != .request { sends.places[route.send, default: 0] += 1 }
  }

  /// Returns the counters that go with a page size: counters of presets, and names formed like the
  /// size's, `pageNumber` for `pageSize` and `page[number]` for `page[size]`.
  func counters(besideSize name: String) -> [Pagination.Placement] {
    let presets = besideSize[name]?.ranked ?? []
    let normal = Self.normalized(name)
    switch name {
    // json-server, whose `_end` is the end of the page.
    case "_limit": return presets + ["_start", "_offset", "_skip"].map { .query($0) }
    case "_end": return presets + [.query("_start")]
    case "_per_page": return presets + [.query("_page")]
    case "page[limit]": return presets + [.query("page[offset]")]
    // A maximum page size has no counter beside it.
    case _ where normal.hasSuffix("pagesize") && !normal.contains("max"):
      let made = Self.number(besideSize: name)
      // As many servers use plain `page`, unless the parameter has a prefix.
      let plain = normal == "pagesize" && name != "page[size]" ? ["page"] : []
      let relative = name == "page[size]" ? nil : Self.relative(ofSize: name, named: "page")
      let names = plain + (relative.map { [$0] } ?? []) + (made == name ? [] : [made])
      return presets + names.map { Pagination.Placement.query($0) }
    default:
      let names = normal.hasSuffix("perpage") ? ["page"] : ["skip", "offset"]
      let relatives = names.compactMap { Self.relative(ofSize: name, named: $0) }
      return presets + relatives.map { Pagination.Placement.query($0) }
    }
  }

  /// Returns the name of a page number that is formed like a page size: `pageNumber` for `pageSize`.
  static func number(besideSize name: String) -> String {
    name.replacing("size", with: "number").replacing("Size", with: "Number")
  }

  /// Returns `name`, spelled like a page size: `$skip` beside `$limit`, `filter[skip]` beside
  /// `filter[limit]`, `paging.skip` beside `paging.limit`. Nil if the size has a plain name.
  static func relative(ofSize spelled: String, named name: String) -> String? {
    let end = spelled.hasSuffix("]") ? "]" : ""
    let inner = spelled.dropLast(end.count)
    let start = inner.indices.last { place in
      let own = inner[inner.index(after: place)...]
      // The underscore of `per_page` is no prefix.
      let isPrefix =
        ["$", "[", "."].contains(inner[place])
        || inner[place] == "_" && place == inner.startIndex
      return isPrefix && (inner[place] == "[") == (end == "]")
        && PaginationDetector.sizes.contains(normalized(String(own)))
    }
    return start.map { inner[...$0] + name + end }
  }

  /// Returns the information in finding a trait at one place, in bits; 0 if all presets have it.
  func information(of part: DescriptionTrait) -> Double {
    // A trait that no preset has is not necessarily rare.
    guard let frequency = frequencies[part.key] else { return Weights.unknownTrait }
    // log2, interpolated linearly between powers of two.
    let ratio = Double(count) / Double(frequency)
    let bits = Double(ratio.exponent) + ratio.significand - 1
    // A wildcard matches any name.
    return part.isWild ? bits * Weights.wildcard : bits
  }

  /// Whether a value of that name is the page's own number or offset.
  func isEcho(_ value: JSONValue, named name: String) -> Bool {
    guard value.integer != nil else { return false }
    return pageNames.contains(name) || offsetNames.contains(name)
  }

  /// Whether a parameter of that name takes an offset: a known name, or one that ends like an
  /// offset, such as `_paginationOffset` and `resultsToSkip`.
  func isOffset(_ name: String) -> Bool {
    guard !pageNames.contains(name) else { return false }
    return offsetNames.contains(name)
      || ["offset", "skip", "start", "startat", "startindex", "startrow"].contains(
        where: name.hasSuffix)
  }

  /// Whether a value of this name, in any object, is the start of a page.
  func isStart(_ name: String) -> Bool {
    ["offset", "page", "skip", "start", "startindex"].contains(name)
  }

  /// Returns the name of a continuation at the end of a header field's name: `nexttoken` in
  /// `X-Next-Token`; nil if there is none.
  func continuationName(inField name: String) -> String? {
    let known = next.keys.filter { $0.count >= 8 && $0.hasPrefix("next") && name.hasSuffix($0) }
      .max { $0.count < $1.count }
    // `X-Pagination-Cursor-Next`.
    let turned = ["cursor", "marker", "token"].first { name.hasSuffix($0 + "next") }
    return known ?? turned.map { "next" + $0 }
      ?? ["aftercursor", "continuationtoken", "cursor"]
      .first { name.hasSuffix($0) && !Self.isOfOtherPage(name) }
  }

  /// Whether the name of a header field tells that its cursor is for another page than the next.
  private static func isOfOtherPage(_ name: String) -> Bool {
    ["before", "first", "last", "prev", "start"].contains(where: name.contains)
  }

  // MARK: Names

  /// Returns the name in lowercase, with letters and digits only, so that `next_page` equals
  /// `nextPage`.
  static func normalized(_ name: String) -> String {
    if name.utf8.allSatisfy({ $0 < 0x80 }) {
      return String(
        decoding: name.utf8.compactMap { byte in
          switch byte {
          case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
          default: nil
          }
        }, as: UTF8.self)
    }
    return String(
      name.lowercased().unicodeScalars.filter {
        $0.properties.isAlphabetic || ("0"..."9").contains($0)
      })
  }

  /// Normalized names that only mean "a link": what is around it tells which.
  static let addresses: Set<String> = ["href", "rdfresource", "resource", "uri", "url"]

  /// Returns the last name of a path in each format, skipping names such as `href` that only mean
  /// "a link".
  static func names(of path: PagePath) -> [String] { names(of: path.text) }

  private static func names(of path: String) -> [String] {
    PagePath.sides(of: path).compactMap { side in
      var steps = side.utf8.split(separator: UInt8(ascii: "/")).map(Substring.init)
      while let step = steps.popLast() {
        if step.utf8.contains(UInt8(ascii: "=")),
          ["[rel=", "[relation=", "[@rel=", "@value="].contains(where: step.contains)
        {
          return "next"
        }
        let name = normalized(String(Substring(step.utf8.prefix { $0 != UInt8(ascii: "[") })))
        if !addresses.contains(name), !["value", "", "0"].contains(name) { return name }
      }
      return nil
    }
  }
}

extension DescriptionTrait {
  /// Whether almost every page has a value at the place.
  fileprivate var isWild: Bool {
    switch probe {
    case .items(.path(let path)), .value(.body(let path)):
      path.text.isEmpty || path.text.hasSuffix("/*")
    default: false
    }
  }
}

extension Pagination.ValueSource {
  /// The normalized names of the value in a page.
  var names: [String] {
    switch self {
    case .body(let path): PaginationVocabulary.names(of: path)
    case .firstOf(let sources): sources.flatMap(\.names)
    case .header, .lastItem, .count, .linkParameter, .linkQueryItem, .contentRangeTotal: []
    }
  }
}
