/// What the report of a merge says about its sources.
struct MergeSummary: Sendable {
  /// The sources that did not answer in time.
  var lagged: Set<Int> = []
  /// The latest error of each source that failed.
  var failures: [Int: any Error] = [:]
  /// The sources that are not ordered by the key.
  var unordered: Set<Int> = []
  /// The number of items that came behind items with later keys, because their source was lagging.
  var late = 0

  func warnings(skew: Duration?) -> [WalkReport.Warning] {
    var warnings: [WalkReport.Warning] = []
    if !lagged.isEmpty, let skew {
      let order =
        late == 0
        ? "no item came out of order for it"
        : "\(late.counted("item")) came later than the order says"
      warnings.append(
        WalkReport.Warning(
          .laggingSource,
          """
          \(Self.list(lagged)) did not answer within \(skew.words), and the others went on; \(order).
          """, remedy: Remedy(.skew, condition: "to wait longer for each source")))
    }
    if !failures.isEmpty {
      warnings.append(
        WalkReport.Warning(
          .failedSource, "\(Self.list(Set(failures.keys))) failed: \(Self.reasons(failures))"))
    }
    if !unordered.isEmpty {
      warnings.append(
        WalkReport.Warning(
          .unorderedSource,
          "\(Self.list(unordered)) sent items that are not in the order of the key."))
    }
    return warnings
  }

  /// Returns the error for a merge in which only failed sources are left.
  static func failure(_ errors: [Int: any Error], of count: Int) -> PageError {
    let verb = errors.count == 1 ? "has" : "have"
    let rest =
      errors.count == count
      ? "" : " The others have been delivered to their ends."
    return PageError(
      .sourcesFailed,
      """
      \(errors.count.counted("source")) of \(count) \(verb) failed: \(reasons(errors))\(rest) Ask again, \
      or resume from the checkpoint, to go on with what failed.
      """, attempts: 0, underlying: PageError.SourceFailures(errors: errors))
  }

  /// Returns the error of a source that is given up because more sources lag than may.
  static func unanswered(in skew: Duration) -> PageError {
    PageError(
      .sourceFailed,
      "The source did not answer within \(skew.words), and more sources are lagging than may.",
      remedies: [Remedy(.skew, condition: "to wait longer for each source")])
  }

  /// Names sources by their indices in the call: "Source 3", "Sources 3 and 7", the first three of
  /// many.
  private static func list(_ sources: Set<Int>) -> String {
    let shown = sources.sorted().prefix(3).map(String.init)
    if sources.count == 1 { return "Source \(shown[0]) of the merge" }
    let rest = sources.count - shown.count
    let names = rest > 0 ? shown + ["\(rest) more"] : shown
    return "Sources \(names.listed()) of the merge"
  }

  private static func reasons(_ errors: [Int: any Error]) -> String {
    errors.sorted { $0.key < $1.key }.prefix(3).map { source, error in
      "source \(source): \((error as? PageError)?.message ?? "\(error)")"
    }.joined(separator: "; ") + (errors.count > 3 ? "; …" : "")
  }
}
