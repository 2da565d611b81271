public import QuireCore

extension Pagination {
  /// A ready-made description with a name, for an API or for a style of APIs.
  ///
  /// `Pagination.presets` lists them, and `Pagination` has a constant for each name, such as
  /// `Pagination.github`.
  public struct Preset: Sendable {
    /// The name, as in `Pagination.github`.
    public let name: String
    /// The API, with an example of its pages.
    public let summary: String
    /// The parts of a page that the description reads, in one line.
    public let reply: String
    /// The API's page sizes, limits and peculiarities; empty if it has none.
    public let notes: String
    /// The description. It needs `items(at:)` if only the caller knows the place of the items.
    public let pagination: Pagination
    /// The names of other services, by which `Pagination.preset(named:)` also finds the preset or
    /// one of its variants; sorted.
    public let aliases: [String]
    /// The title of the preset's table in the guide.
    package let family: String
    /// The descriptions of the aliases that differ from the preset's.
    private let described: [String: Pagination]

    /// The descriptions of the aliases that differ from the preset's.
    package var variants: [Pagination] { Array(described.values) }

    /// Returns the description for an alias; nil if the preset does not have the alias.
    package func pagination(named alias: String) -> Pagination? {
      described[alias] ?? (aliases.contains(alias) ? pagination : nil)
    }

    /// Whether the preset describes a style, which many servers use with names of their own.
    package var isGeneric: Bool { family == Self.families.first }
  }
}

extension Pagination.Preset {
  /// The titles of the tables in the guide, in its order.
  package static let families: [String] = PresetSource.all.reduce(into: []) { titles, source in
    if titles.last != source.family { titles.append(source.family) }
  }

  /// Every preset, sorted by name.
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

  /// Returns the description of a preset or an alias, reading no other; nil for an unknown name.
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

  /// Returns whether a preset or an alias finds the next page as `other` does, and its description
  /// satisfies the predicate. Reads no more of them than it must.
  package static func hasDescription(
    leadingAs other: Pagination, where isWanted: (Pagination) -> Bool
  ) -> Bool {
    // The files are written by the grammar, so that JSON can be compared with JSON.
    let written = Pagination.Next.grammar.write(other.next)
    let words = written.words
    // Presets whose paths have to be moved to be compared come last, because that is slow.
    for isMoved in [false, true] {
      for source in PresetSource.all where source.mayMention("below") == isMoved {
        guard isMoved || words.allSatisfy(source.mayMention) else { continue }
        let value = source.value()
        for description in [value["description"] ?? .null] + value.variants.map(\.value) {
          if let alike = read(description, leadingAs: other, written), isWanted(alike) {
            return true
          }
        }
      }
    }
    return false
  }

  /// Reads a description if it finds the next page as `other` does, whose `next` is also given as
  /// `written`; nil if not.
  private static func read(
    _ value: JSONValue, leadingAs other: Pagination, _ written: JSONValue
  ) -> Pagination? {
    if value["next"] == written { return read(value, "").example }
    // With "below", all paths move with those of the items, so the container has to be found first:
    // it is the path of the items or the object that contains them.
    guard value["items"]?["below"] != nil, let path = other.items.paths.first?.text else {
      return nil
    }
    let container = path.lastIndex(of: "/").flatMap { try? PagePath(String(path[..<$0])) }
    let places = [try? PagePath(path), container].compactMap { $0 }
    return places.lazy.map { read(value, "").items(at: .path($0)) }
      .first { $0.next == other.next }
  }

  /// Returns the paths in all presets, without parsing any.
  package static func paths() -> Set<String> {
    texts { _, text in text.first == UInt8(ascii: "/") }
  }

  /// Returns the names of header fields in all presets, without parsing any.
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
  /// The aliases that share the preset's description.
  fileprivate var aliases: [String] {
    if case .array(let names)? = self["aliases"] { names.compactMap(\.string) } else { [] }
  }

  /// The aliases that have descriptions of their own.
  fileprivate var variants: [Member] {
    if case .object(let members)? = self["variants"] { members } else { [] }
  }

  /// The texts in the value, and the names of its members.
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
  /// Every preset, sorted by name.
  public static var presets: [Pagination.Preset] { Pagination.Preset.all }

  /// Returns the preset with the name or alias.
  ///
  /// Throws `invalidArgument` for an unknown name. The message suggests the nearest names, or
  /// presets whose summary of a page mentions the name.
  public static func preset(named name: String) throws(PageError) -> Pagination {
    if let preset = Pagination.Preset.description(named: name) { return preset }
    let near = presetNames(like: name).map { "\"\($0)\"" }
    let hint =
      near.isEmpty
      ? "\"quire presets\" lists them all." : "Did you mean \(near.joined(separator: " or "))?"
    throw PageError(.invalidArgument, "There is no preset \"\(name)\". \(hint)")
  }

  /// Returns at most three presets that an unknown name may stand for: the shortest that begin with
  /// it, else those whose `reply` mentions it, else the one with the nearest name, else those that
  /// contain it.
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
