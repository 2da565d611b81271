extension WalkReport {
  /// Something that speaks against a walk having delivered all there is, or that a caller would want
  /// to mend, though it is no failure.
  public struct Warning: Hashable, Sendable {
    /// What kind of doubt this is. Compare with the constants; new ones may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
      /// The name, in lower camel case.
      public let description: String

      /// A code of your own, for a source of your own.
      public init(_ name: String) { description = name }
    }

    /// What kind of doubt this is.
    public var code: Code
    /// What was seen and where, in a sentence. Text of the server in it is escaped.
    public var message: String {
      didSet { message = message.escapedForDisplay }
    }
    /// What to change if the doubt is right; nil where nothing can be.
    public var remedy: Remedy?

    /// A warning of a kind, in words.
    public init(_ code: Code, _ message: String, remedy: Remedy? = nil) {
      self.code = code
      self.message = message.escapedForDisplay
      self.remedy = remedy
    }
  }

  /// The most warnings that a report keeps; a hostile server must not fill it.
  static let mostWarnings = 64

  /// Adds what is not there yet.
  package mutating func warn(_ new: [Warning]) {
    for warning in new where warnings.count < Self.mostWarnings && !warnings.contains(warning) {
      warnings.append(warning)
    }
  }
}

extension WalkReport.Warning: CustomStringConvertible {
  /// The message and, in brackets, the setting that would mend it.
  public var description: String {
    guard let remedy else { return message }
    let words = remedy.values.joined(separator: ", ").escapedForDisplay
    let values = remedy.values.isEmpty ? "" : ": \(words)"
    return "\(message) [\(remedy.setting)\(values)]"
  }
}

/// What a source has to say about a walk as a whole, once it has seen the pages.
///
/// Made anew for each walk. `saw` is told of every page as it came from the source, before any
/// transform; `warnings` is asked when the report is.
package struct WalkAudit: Sendable {
  package var saw: @Sendable (_ page: PageHead, _ items: Int) -> Void
  package var warnings: @Sendable (_ end: WalkReport.End) -> [WalkReport.Warning]

  package init(
    saw: @escaping @Sendable (PageHead, Int) -> Void,
    warnings: @escaping @Sendable (WalkReport.End) -> [WalkReport.Warning]
  ) {
    self.saw = saw
    self.warnings = warnings
  }
}
