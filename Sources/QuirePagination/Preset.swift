import CPresets
public import QuireCore

extension Pagination {
  /// A description with a name, for the API or the style of an API that it was written for.
  ///
  /// `Pagination.presets` lists them, and `Pagination` has a constant of each name, such as
  /// `Pagination.github`.
  public struct Preset: Sendable {
    /// The name, as in `Pagination.github`.
    public let name: String
    /// The API, and what its pages look like.
    public let summary: String
    /// What a page has that the description reads, in one line.
    public let reply: String
    /// The API's page sizes, limits and peculiarities; empty where there is nothing to know.
    public let notes: String
    /// The description. Where only the caller knows where the items are, it needs `items(at:)`.
    public let pagination: Pagination
    /// The other services that are paged so, as `Pagination.preset(named:)` knows them, by name.
    public let aliases: [String]
    /// The title under which the guide has it.
    package let family: String
    /// What the aliases mean that differ from the description.
    private let described: [String: Pagination]

    /// What aliases mean that is not the same.
    package var variants: [Pagination] { Array(described.values) }

    /// What an alias means; nil where it is none of this preset's.
    package func pagination(named alias: String) -> Pagination? {
      described[alias] ?? (aliases.contains(alias) ? pagination : nil)
    }

    /// Whether many servers speak it, each with names of its own.
    package var isGeneric: Bool { family == Self.families.first }
  }
}

extension Pagination.Preset {
  /// A preset as its file has it.
  private struct Source {
    let family: String
    let value: JSONValue

    /// A text; empty where there is none.
    func text(_ name: String) -> String { value[name]?.string ?? "" }

    var same: [String] {
      if case .array(let names)? = value["aliases"] { names.compactMap(\.string) } else { [] }
    }

    var variants: [JSONValue.Member] {
      if case .object(let members)? = value["variants"] { members } else { [] }
    }
  }

  /// The files, in their order.
  private static let sources: [Source] = {
    var count = 0
    let start = quire_presets(&count)
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard case .array(let files)? = try? JSONValue(parsing: bytes) else {
      preconditionFailure("The files of presets are not JSON.")
    }
    return files.flatMap { file -> [Source] in
      guard case .array(let presets)? = file["presets"], let family = file["family"]?.string
      else { preconditionFailure("A file of presets has no \"family\" or no \"presets\".") }
      return presets.map { Source(family: family, value: $0) }
    }
  }()

  /// The descriptions by all their names.
  private static let descriptions: [String: JSONValue] = sources.reduce(into: [:]) { all, source in
    for name in [source.text("name")] + source.same { all[name] = source.value["description"] }
    for variant in source.variants { all[variant.name] = variant.value }
  }

  /// The titles of the guide, in its order.
  package static let families: [String] = sources.reduce(into: []) { titles, source in
    if titles.last != source.family { titles.append(source.family) }
  }

  /// Every preset, by name.
  static let all: [Pagination.Preset] = sources.map { source in
    let variants = source.variants.map { ($0.name, read($0.value, $0.name)) }
    return Pagination.Preset(
      name: source.text("name"), summary: source.text("summary"), reply: source.text("reply"),
      notes: source.text("notes"),
      pagination: read(source.value["description"] ?? .null, source.text("name")),
      aliases: (source.same + variants.map(\.0)).sorted(), family: source.family,
      described: Dictionary(uniqueKeysWithValues: variants))
  }.sorted { $0.name < $1.name }

  /// The description of a preset or an alias, the only one that is read; nil where there is none.
  static func description(named name: String) -> Pagination? {
    descriptions[name].map { read($0, name) }
  }

  /// What presets and their aliases mean that find the next page where another description does, read one by
  /// one as they are asked for.
  package static func descriptions(leadingAs other: Pagination) -> some Sequence<Pagination> {
    // The files write it as its grammar does.
    let written = Pagination.Next.grammar.write(other.next)
    return descriptions.lazy.compactMap { name, value in
      if value["next"] == written { return read(value, name).example }
      // Below a container, all paths move with that of the items, or of the list in it.
      guard value["items"]?["below"] != nil, let path = other.items.paths.first?.text else {
        return nil
      }
      let container = path.lastIndex(of: "/").flatMap { try? PagePath(String(path[..<$0])) }
      let places = [try? PagePath(path), container].compactMap { $0 }
      return places.lazy.map { read(value, name).items(at: .path($0)) }
        .first { $0.next == other.next }
    }
  }

  /// The texts in all descriptions, which are not read for it, each once: names, paths, and words of the
  /// language. Those of members of that name, or of all.
  package static func texts(of member: String? = nil) -> Set<String> {
    var texts: Set<String> = []
    var rest = descriptions.values.map { JSONValue.Member("", $0) }
    while let next = rest.popLast() {
      switch next.value {
      case .string(let text): if next.name == member ?? next.name { texts.insert(text) }
      case .array(let elements): rest += elements.map { .init(next.name, $0) }
      case .object(let members): rest += members
      case .null, .bool, .number: break
      }
    }
    return texts
  }

  private static func read(_ value: JSONValue, _ name: String) -> Pagination {
    do {
      return try Pagination(value)
    } catch {
      preconditionFailure("The preset \(name) cannot be read. \(error)")
    }
  }
}

extension Pagination {
  /// Every preset, by name.
  public static var presets: [Pagination.Preset] { Pagination.Preset.all }

  /// The preset of that name, or of one of its aliases.
  ///
  /// Throws `invalidArgument` for a name that is unknown, with the nearest one that is not, or those
  /// of the presets that have it in their description.
  public static func preset(named name: String) throws(PageError) -> Pagination {
    if let preset = Pagination.Preset.description(named: name) { return preset }
    let near = presetNames(like: name).map { "\"\($0)\"" }
    let hint =
      near.isEmpty
      ? "\"quire presets\" lists them all." : "Did you mean \(near.joined(separator: " or "))?"
    throw PageError(.invalidArgument, "There is no preset \"\(name)\". \(hint)")
  }

  /// The presets that an unknown name may stand for, at most three: the shortest that begin with it,
  /// or those described by it, or else the one whose name is nearest.
  private static func presetNames(like name: String) -> [String] {
    let word = name.lowercased()
    let longer = presets.map(\.name).filter { $0.lowercased().hasPrefix(word) }
      .sorted { $0.count < $1.count }
    if word.count > 2, !longer.isEmpty { return Array(longer.prefix(3)) }
    let described = presets.filter { preset in
      let words = preset.reply.lowercased().split { !$0.isLetter && !$0.isNumber }
      return words.contains { $0 == word }
    }
    if !described.isEmpty { return described.prefix(3).map(\.name) }
    let names = presets.flatMap { [$0.name] + $0.aliases }
    if let nearest = NearestName.find(name, in: names) { return [nearest] }
    return word.count < 3 ? [] : Array(names.filter { $0.lowercased().contains(word) }.prefix(3))
  }
}
