/// The keys that mean something here; their names are the words of scripts.
enum Key: String {
  case up, down, left, right, pageUp, pageDown, home, end, enter, quit

  /// What a terminal sends for them. Ctrl-C is a key like any other in raw mode.
  private static let sequences: [(bytes: [UInt8], key: Key)] = [
    ("\u{1B}[A", Key.up), ("\u{1B}[B", .down), ("\u{1B}[C", .right), ("\u{1B}[D", .left),
    ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown),
    ("\u{1B}[H", .home), ("\u{1B}[1~", .home), ("\u{1B}[F", .end), ("\u{1B}[4~", .end),
    ("\r", .enter), ("q", .quit), ("\u{3}", .quit),
  ].map { (Array($0.utf8), $1) }

  /// The keys in what was read at once; everything else is left out.
  static func keys(in bytes: some Sequence<UInt8>) -> [Key] {
    var rest = Array(bytes)[...]
    var keys: [Key] = []
    while !rest.isEmpty {
      if let (bytes, key) = sequences.first(where: { rest.starts(with: $0.bytes) }) {
        keys.append(key)
        rest = rest.dropFirst(bytes.count)
      } else {
        rest = rest.dropFirst()
      }
    }
    return keys
  }
}
