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
  /// The titles of the guide, in its order.
  package static let families: [String] = PresetSource.all.reduce(into: []) { titles, source in
    if titles.last != source.family { titles.append(source.family) }
  }

  /// Every preset, by name.
  static let all: [Pagination.Preset] = PresetSource.all.map(Self.init).sorted { $0.name < $1.name }

  private init(_ source: PresetSource) {
    let value = source.value()
    func text(_ name: String) -> String { value[name]?.string ?? "" }
    let variants = value.variants.map { ($0.name, Self.read($0.value, $0.name)) }
    name = text("name")
    summary = text("summary")
    reply = text("reply")
    notes = text("notes")
    pagination = Self.read(value["description"] ?? .null, text("name"))
    aliases = (value.aliases + variants.map(\.0)).sorted()
    family = source.family
    described = Dictionary(uniqueKeysWithValues: variants)
  }

  /// The description of a preset or an alias, the only one that is read; nil where there is none.
  static func description(named name: String) -> Pagination? {
    for source in PresetSource.all where source.mayMention(name) {
      let value = source.value()
      if let variant = value.variants.first(where: { $0.name == name }) {
        return read(variant.value, name)
      }
      if value["name"]?.string == name || value.aliases.contains(name) {
        return read(value["description"] ?? .null, name)
      }
    }
    return nil
  }

  /// What presets and their aliases mean that find the next page where another description does, read one by
  /// one as they are asked for.
  package static func descriptions(leadingAs other: Pagination) -> AnySequence<Pagination> {
    // The files write it as its grammar does.
    let written = Pagination.Next.grammar.write(other.next)
    let words = written.words
    // A sequence, which asks each once: a lazy collection would for every step of its index. Those that have to be
    // moved to be compared, which takes long, come last.
    let sources = [false, true].lazy.flatMap { isMoved in
      AnySequence(PresetSource.all).lazy.filter { source in
        source.mayMention("below") == isMoved && (isMoved || words.allSatisfy(source.mayMention))
      }
    }
    let values = sources.flatMap { source in
      let value = source.value()
      return [value["description"] ?? .null] + value.variants.map(\.value)
    }
    let descriptions = values.compactMap { value -> Pagination? in
      if value["next"] == written { return read(value, "").example }
      // Below a container, all paths move with that of the items, or of the list in it.
      guard value["items"]?["below"] != nil, let path = other.items.paths.first?.text else {
        return nil
      }
      let container = path.lastIndex(of: "/").flatMap { try? PagePath(String(path[..<$0])) }
      let places = [try? PagePath(path), container].compactMap { $0 }
      return places.lazy.map { read(value, "").items(at: .path($0)) }
        .first { $0.next == other.next }
    }
    return AnySequence(descriptions)
  }

  /// The paths in all presets, for which none is read.
  package static func paths() -> Set<String> {
    texts { _, text in text.first == UInt8(ascii: "/") }
  }

  /// The names of header fields in all presets, for which none is read.
  package static func headerFields() -> Set<String> {
    texts { name, _ in name.elementsEqual("header".utf8) }
  }

  private static func texts(
    where isWanted: (_ member: PresetSource.Text, _ text: PresetSource.Text) -> Bool
  ) -> Set<String> {
    var texts: Set<String> = []
    for source in PresetSource.all {
      source.eachText { member, text in
        if isWanted(member, text) { texts.insert(String(decoding: text, as: UTF8.self)) }
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

extension JSONValue {
  /// The other names of a preset that mean the same.
  fileprivate var aliases: [String] {
    if case .array(let names)? = self["aliases"] { names.compactMap(\.string) } else { [] }
  }

  /// The other names of a preset that mean something else.
  fileprivate var variants: [Member] {
    if case .object(let members)? = self["variants"] { members } else { [] }
  }

  /// The texts in it, and the names of its members.
  fileprivate var words: [String] {
    switch self {
    case .string(let text): [text]
    case .array(let elements): elements.flatMap(\.words)
    case .object(let members): members.flatMap { [$0.name] + $0.value.words }
    case .null, .bool, .number: []
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
        || zip(words, words.dropFirst()).contains { $0 + $1 == word }
    }
    // A word that names no API most likely means a style.
    let styles = described.filter(\.isGeneric)
    if !described.isEmpty { return (styles.isEmpty ? described : styles).prefix(3).map(\.name) }
    let names = presets.flatMap { [$0.name] + $0.aliases }
    if let nearest = NearestName.find(name, in: names) { return [nearest] }
    return word.count < 3 ? [] : Array(names.filter { $0.lowercased().contains(word) }.prefix(3))
  }
}
