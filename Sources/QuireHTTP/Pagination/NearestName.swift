/// The known name a misspelt one was meant to be.
package enum NearestName {
  /// The name with the fewest edits from `name`, at most two or a third of its length;
  /// nil when none is near.
  ///
  /// Costs the product of both lengths per candidate.
  package static func find(_ name: String, in candidates: [String]) -> String? {
    let wanted = Array(name.lowercased())
    let scored = candidates.map { (name: $0, edits: edits(wanted, Array($0.lowercased()))) }
    guard let best = scored.min(by: { $0.edits < $1.edits }) else { return nil }
    return best.edits <= max(wanted.count > 3 ? 2 : 1, wanted.count / 3) ? best.name : nil
  }

  /// " Did you mean …?" for a name that is none of `candidates`: the name that `words` has for it, else
  /// the nearest; empty where there is none.
  package static func hint(
    _ name: String, in candidates: [String], words: [String: String] = [:]
  ) -> String {
    let meant = words[name].flatMap { candidates.contains($0) ? $0 : nil }
    return (meant ?? find(name, in: candidates)).map { " Did you mean \"\($0)\"?" } ?? ""
  }

  /// The words of the command line for one of these kinds of names, by what only that kind has.
  static func words(among names: [String]) -> [String: String] {
    if names.contains("jsonBody") { return placements }
    if names.contains("lastItem") { return sources }
    return names.contains("lastPage") ? ends : [:]
  }

  /// What the command line calls a placement, and what a file does.
  static let placements = ["body": "jsonBody", "link": "url", "json": "jsonBody", "xml": "xmlBody"]

  /// What the command line calls a source of continuations or values, and what a file does.
  static let sources = ["last": "lastItem", "page": "pageNumber", "link": "linkHeader"]

  /// What the command line calls an end rule, and what a file does.
  static let ends = [
    "empty": "emptyPage", "short": "shortPage", "same": "sameCursor", "last": "flag",
    "pages": "total", "sentinel": "noNext",
  ]

  /// Insertions, deletions, replacements, and swaps of neighbours that turn one text into the other
  /// (the optimal string alignment of Damerau and Levenshtein).
  private static func edits(_ left: [Character], _ right: [Character]) -> Int {
    var (before, row) = ([Int](), Array(0...right.count))
    for (index, character) in left.enumerated() {
      var next = [index + 1]
      for column in right.indices {
        let replaced = row[column] + (right[column] == character ? 0 : 1)
        var edits = min(replaced, row[column + 1] + 1, next[column] + 1)
        if index > 0, column > 0, character == right[column - 1], left[index - 1] == right[column] {
          edits = min(edits, before[column - 1] + 1)
        }
        next.append(edits)
      }
      (before, row) = (row, next)
    }
    return row[right.count]
  }
}
