import QuirePagination
import QuireCore

/// The names that presets use: which are continuations, flags or totals, where their values are sent,
/// and how rare each is.
struct PaginationVocabulary: Sendable {
  /// Where the values of a name go, and in how many presets.
  struct Sends: Sendable {
    var links = 0
    var places: [Pagination.Placement: Int] = [:]

    /// The places, those of most presets first.
    var ranked: [Pagination.Placement] {
      places.sorted { ($1.value, "\($0.key)") < ($0.value, "\($1.key)") }.map(\.key)
    }
  }

  /// A trait, and each of its places.
  struct Atoms: Sendable {
    var trait: DescriptionTrait
    var atoms: [DescriptionTrait]
  }

  /// A preset, and what it expects.
  struct Entry: Sendable {
    var preset: Pagination.Preset
    var traits: [Atoms]
    /// What other names of the preset mean that is not the same.
    var variants: [(name: String, pagination: Pagination)]
    var isGeneric: Bool { preset.isGeneric }

    init(_ preset: Pagination.Preset) {
      self.preset = preset
      traits = PaginationVocabulary.atoms(
        of: preset.pagination.example.fitted(to: PageRequest(url: "")))
      variants = preset.aliases.compactMap { name in
        preset.pagination(named: name).flatMap {
          $0 == preset.pagination ? nil : (name, $0.example)
        }
      }
    }
  }

  /// The presets.
  let presets: [Entry]
  /// Names of continuations, by `normal(_:)`.
  private(set) var next: [String: Sends] = [:]
  /// The same, by names as they are spelled: who writes `next_page_token` writes parameters so, too.
  private(set) var spelled: [String: Sends] = [:]
  /// Names of header fields with continuations.
  private(set) var nextFields: [String: Sends] = [:]
  /// Names of flags, and whether true means more in most presets.
  private(set) var flags: [String: Bool] = [:]
  /// Names of totals, and what they mostly count.
  private(set) var totals: [String: Total.Kind] = [:]
  /// Names of lists.
  private(set) var lists: Set<String> = []
  /// Where page numbers and offsets go.
  private(set) var pageNumbers = Sends()
  private(set) var offsets = Sends()
  /// Where either goes in the query, by the name that the page size has there, as it is spelled: `first`
  /// beside `max`.
  private var besideSize: [String: Sends] = [:]
  /// Names by which requests and answers number pages: those of presets, and others.
  private(set) var pageNames: Set<String> = [
    "curpage", "current", "currentpage", "p", "pageid", "pageindex", "pageno", "pagenr", "pagenum",
    "pagenumber", "pg", "pn", "startpage",
  ]
  /// Names by which they say where a page starts: those of presets, and those made of words for it.
  private(set) var offsetNames = PaginationVocabulary.composedOffsetNames()
  /// Names of parameters that tokens go to.
  private(set) var tokenParameters: Set<String> = ["after", "cursor", "marker", "token"]
  private var frequencies: [DescriptionTrait: Int] = [:]
  private let count: Int

  /// What all presets know.
  static let shared = PaginationVocabulary(Pagination.presets)

  /// The names that presets may know, some that none does among them: taken from their texts, at a fraction
  /// of what reading all presets costs.
  private static let possibleNames = Set(
    Pagination.Preset.texts().lazy.filter { $0.hasPrefix("/") }.flatMap { names(of: $0) })

  private static let possibleFields = Set(Pagination.Preset.texts(of: "header").map(normal))

  /// Whether presets may know a name.
  static func mayKnow(_ name: String) -> Bool { possibleNames.contains(name) }

  /// Whether presets may look for what leads on in a header field of this name.
  static func mayKnow(field name: String) -> Bool {
    possibleFields.contains(name) || name.contains("next")
  }

  /// What a description expects.
  static func atoms(of pagination: Pagination) -> [Atoms] {
    pagination.traits.map { Atoms(trait: $0, atoms: $0.atoms) }
  }

  init(_ presets: [Pagination.Preset]) {
    self.presets = presets.map(Entry.init)
    count = presets.count
    var flagVotes: [String: Int] = [:]
    var totalVotes: [String: [Total.Kind: Int]] = [:]
    for entry in self.presets {
      let description = entry.preset.pagination.example.fitted(to: PageRequest(url: ""))
      for atom in Set(entry.traits.flatMap(\.atoms)) { frequencies[atom, default: 0] += 1 }
      for route in description.routes { learn(route) }
      // What only one API calls so is a sign of that API.
      if entry.isGeneric { learnSize(of: description) }
      for path in description.items.paths { lists.formUnion(Self.names(of: path)) }
      for case .flag(let rule) in description.end {
        let vote = rule.continuesWhile ? 1 : -1
        for name in rule.source.names { flagVotes[name, default: 0] += vote }
      }
      let totals = description.total.map { [Pagination.End.total($0)] } ?? []
      for case .total(let total) in description.end + totals {
        for name in total.source.names {
          totalVotes[name, default: [:]][total.kind, default: 0] += 1
        }
      }
    }
    for preset in presets {
      for variant in preset.variants {
        let description = variant.example.fitted(to: PageRequest(url: ""))
        for route in description.routes where route.next.isCounter { learn(route) }
        if preset.isGeneric { learnSize(of: description) }
        // What a variant alone looks for is as rare as what one preset does.
        for atom in description.traits.flatMap(\.atoms) where frequencies[atom] == nil {
          frequencies[atom] = 1
        }
      }
    }
    flags = flagVotes.mapValues { $0 >= 0 }
    totals = totalVotes.compactMapValues { votes in
      votes.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }?.key
    }
    lists.subtract(["0", "1", ""])
    for sends in next.values {
      tokenParameters.formUnion(sends.places.keys.compactMap(\.parameter).map(Self.normal))
    }
    pageNames.formUnion(pageNumbers.places.keys.compactMap(\.parameter).map(Self.normal))
    offsetNames.formUnion(offsets.places.keys.compactMap(\.parameter).map(Self.normal))
    offsetNames.subtract(pageNames)
  }

  /// Where a page starts is said by one of a few words, alone or beside one for what is counted:
  /// `rowStart`, `firstResult`, `start_at`, `pagination[start]`.
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

  /// Takes note of what counts beside the page size.
  private mutating func learnSize(of description: Pagination) {
    guard case .query(let name, _)? = description.size?.send else { return }
    for route in description.routes where route.next.isCounter {
      guard case .query = route.send else { continue }
      Self.learn(route, in: &besideSize[name, default: Sends()])
    }
  }

  private mutating func learn(_ route: Pagination.Route) {
    switch route.next.root {
    case .body(let path):
      for name in Self.names(of: path) { Self.learn(route, in: &next[name, default: Sends()]) }
      if let name = path.text.split(separator: "/").last {
        Self.learn(route, in: &spelled[String(name), default: Sends()])
      }
    case .header(let name): Self.learn(route, in: &nextFields[Self.normal(name), default: Sends()])
    case .pageNumber: Self.learn(route, in: &pageNumbers)
    case .offset: Self.learn(route, in: &offsets)
    default: break
    }
  }

  private static func learn(_ route: Pagination.Route, in sends: inout Sends) {
    switch route.send {
    case .url, .request: sends.links += 1
    default: sends.places[route.send, default: 0] += 1
    }
  }

  /// Where counters go beside a page size that is spelled so: as presets have it, or by a name that is
  /// made as the size's is, `pageNumber` beside `pageSize` and `page[number]` beside `page[size]`.
  func counters(besideSize name: String) -> [Pagination.Placement] {
    let presets = besideSize[name]?.ranked ?? []
    let normal = Self.normal(name)
    switch name {
    // json-server's, whose `_end` is that of the page.
    case "_limit", "_end": return presets + [.query("_start")]
    case "_per_page": return presets + [.query("_page")]
    case "page[limit]": return presets + [.query("page[offset]")]
    // Nothing is counted by the most that a page may have.
    case _ where normal.hasSuffix("pagesize") && !normal.contains("max"):
      let made = name.replacing("size", with: "number").replacing("Size", with: "Number")
      // As many servers have `page` beside it, but for those whose parameters stand in something.
      let plain = normal == "pagesize" && name != "page[size]" ? ["page"] : []
      let names = plain + (made == name ? [] : [made])
      return presets + names.map { Pagination.Placement.query($0) }
    default: return presets
    }
  }

  /// How much it tells that one place of a trait has something, in bits: what all have tells nothing.
  func information(of atom: DescriptionTrait) -> Double {
    // What no preset knows is no rarity of the answer's but of ours.
    guard let frequency = frequencies[atom.key] else { return Weights.unknownTrait }
    // Between powers of two as on a straight line.
    let ratio = Double(count) / Double(frequency)
    let bits = Double(ratio.exponent) + ratio.significand - 1
    // Any name fits a wildcard.
    return atom.isWild ? bits * Weights.wildcard : bits
  }

  /// Whether a value of that name only says where its own page starts.
  func isEcho(_ value: JSONValue, named name: String) -> Bool {
    guard value.integer != nil else { return false }
    return pageNames.contains(name) || offsetNames.contains(name)
  }

  /// The name of a continuation that a field's name ends in, as `X-Next-Token` in `nexttoken`.
  func meaning(ofField name: String) -> String? {
    next.keys.filter { $0.count >= 8 && $0.hasPrefix("next") && name.hasSuffix($0) }
      .max { $0.count < $1.count }
  }

  // MARK: Names

  /// A name without what languages write differently: small letters and digits.
  static func normal(_ name: String) -> String {
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

  /// The names a path ends in, in either format; those that only say "a link" are passed over.
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
        let name = normal(String(Substring(step.utf8.prefix { $0 != UInt8(ascii: "[") })))
        if !["href", "url", "value", "", "0"].contains(name) { return name }
      }
      return nil
    }
  }
}

extension DescriptionTrait {
  /// Whether the place is one that almost any page has.
  fileprivate var isWild: Bool {
    switch probe {
    case .items(.path(let path)), .value(.body(let path)):
      path.text.isEmpty || path.text.hasSuffix("/*")
    default: false
    }
  }
}

extension Pagination.ValueSource {
  /// The normal names a value has where it is looked for in the page.
  var names: [String] {
    switch self {
    case .body(let path): PaginationVocabulary.names(of: path)
    case .firstOf(let sources): sources.flatMap(\.names)
    case .header, .lastItem, .count, .linkParameter, .linkQueryItem, .contentRangeTotal: []
    }
  }
}

extension PageOutline {
  /// The paths of elements that have one of these names and nothing of their name beside them: lists
  /// of one item, most likely. At most 20.
  func loneElements(named names: Set<String>) -> [String] {
    nodes.lazy.filter { node in
      node.kind == .object && !node.isInList && node.depth > 1
        && names.contains(PaginationVocabulary.normal(node.name))
    }.prefix(20).map(\.path)
  }
}
