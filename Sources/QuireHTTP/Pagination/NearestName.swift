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
    // Two letters that changed places are two edits.
    return best.edits <= max(wanted.count > 3 ? 2 : 1, wanted.count / 3) ? best.name : nil
  }

  /// Insertions, deletions and replacements that turn one text into the other (Levenshtein).
  private static func edits(_ left: [Character], _ right: [Character]) -> Int {
    var row = Array(0...right.count)
    for (index, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in right.indices {
        let replaced = diagonal + (right[column] == character ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
      }
    }
    return row[right.count]
  }
}
