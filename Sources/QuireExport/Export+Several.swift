import QuireCore

extension Export {
  /// Runs exports at once, such as several listings of one API, which share the budget of their client.
  ///
  /// ```swift
  /// let reports = await Export.outcomes(of: [issues, pulls, comments])
  /// ```
  /// Each has a destination and a checkpoint of its own; one that fails keeps no other waiting. Cancelling
  /// stops all of them, each with what it had.
  ///
  /// - Parameters:
  ///   - exports: What is to be run; they begin in this order.
  ///   - concurrency: How many run at once. Default 4.
  /// - Returns: The reports, in the order of the exports; see `outcome()`.
  public static func outcomes(of exports: [Export], concurrency: Int = 4) async -> [ExportReport] {
    await withTaskGroup(of: (Int, ExportReport).self) { group in
      var reports = Array(repeating: ExportReport(), count: exports.count)
      for (index, export) in exports.enumerated() {
        if index >= max(1, concurrency), let (ended, report) = await group.next() {
          reports[ended] = report
        }
        group.addTask { (index, await export.outcome()) }
      }
      for await (ended, report) in group { reports[ended] = report }
      return reports
    }
  }
}
