/// The keys that the reader uses. In a script each is given by its name; any other word is typed as
/// text.
enum Key: Hashable {
  case up, down, pageUp, pageDown, home, end, enter, escape, backspace, quit
  case character(Character)

  private static let names: [String: Key] = [
    "up": .up, "down": .down, "pageUp": .pageUp, "pageDown": .pageDown, "home": .home, "end": .end,
    "enter": .enter, "escape": .escape, "backspace": .backspace, "quit": .quit,
  ]

  /// The bytes that a terminal sends for each key. In raw mode Ctrl-C is a key like any other.
  private static let sequences: [(bytes: [UInt8], key: Key)] = [
    ("\u{1B}[A", Key.up), ("\u{1B}[B", .down), ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown),
    ("\u{1B}OA", .up), ("\u{1B}OB", .down), ("\u{1B}OH", .home), ("\u{1B}OF", .end),
    ("\u{1B}[H", .home), ("\u{1B}[1~", .home), ("\u{1B}[F", .end), ("\u{1B}[4~", .end),
    ("\r", .enter), ("\u{7F}", .backspace), ("\u{8}", .backspace), ("\u{3}", .quit),
  ].map { (Array($0.utf8), $1) }

  /// Returns the keys for a word of a script.
  static func keys(inWord word: String) -> [Key] {
    names[word].map { [$0] } ?? word.map(Key.character)
  }

  /// Returns the keys in the bytes of one read. Unknown bytes are ignored.
  static func keys(in bytes: some Sequence<UInt8>) -> [Key] {
    var rest = Array(bytes)[...]
    var keys: [Key] = []
    while let first = rest.first {
      if let (bytes, key) = sequences.first(where: { rest.starts(with: $0.bytes) }) {
        keys.append(key)
        rest = rest.dropFirst(bytes.count)
        continue
      }
      // The Escape key sends this byte alone. Other sequences that begin with it are unknown keys.
      if first == 0x1B {
        if rest.count == 1 { keys.append(.escape) }
        return keys
      }
      // Typed characters beyond ASCII are bytes of UTF-8.
      let typed = first < 0x80 ? rest.prefix(1) : rest.prefix { $0 >= 0x80 }
      if first >= 0x20, first != 0x7F {
        keys += String(decoding: typed, as: UTF8.self).map(Key.character)
      }
      rest = rest.dropFirst(typed.count)
    }
    return keys
  }
}
