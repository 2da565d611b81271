/// A search for the known name that a misspelled one most likely means.
package enum NearestName {
  /// Returns the candidate with the fewest edits from `name`; nil if none is near. A third of the
  /// name's length may be edited, and at least two characters, or one in a name of up to three.
  ///
  /// Takes time in proportion to the product of both lengths for each candidate.
  package static func find(_ name: String, in candidates: [String]) -> String? {
    let wanted = Array(name.lowercased())
    let scored = candidates.map { (name: $0, edits: edits(wanted, Array($0.lowercased()))) }
    guard let best = scored.min(by: { $0.edits < $1.edits }) else { return nil }
    return best.edits <= max(wanted.count > 3 ? 2 : 1, wanted.count / 3) ? best.name : nil
  }

  /// Returns " Did you mean …?" with the candidate that `words` maps the name to, or else with the
  /// nearest one; an empty text if there is none.
  package static func hint(
    _ name: String, in candidates: [String], words: [String: String] = [:]
  ) -> String {
    let meant = words[name].flatMap { candidates.contains($0) ? $0 : nil }
    return (meant ?? find(name, in: candidates)).map { " Did you mean \"\($0)\"?" } ?? ""
  }

  /// Throws for a name that is not in `known`. If a misspelled end rule were ignored, a description
  /// would seem to have it.
  static func check(
    _ names: [String], in known: [String], _ subject: String,
    words: @autoclosure () -> [String: String] = [:]
  ) throws(FormFailure) {
    guard let name = names.first(where: { !known.contains($0) }) else { return }
    throw FormFailure(
      "\(subject) has no \"\(name)\"; expected \(FormFailure.list(known))."
        + hint(name, in: known, words: words()), member: name)
  }

  /// Returns the number of insertions, deletions, replacements and swaps of neighbors that turn one
  /// text into the other (Damerau and Levenshtein's optimal string alignment).
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
