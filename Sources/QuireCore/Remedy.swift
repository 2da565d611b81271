/// A change that can keep a failure or a warning from recurring: a setting, and values that would
/// fit it.
///
/// A program matches on `setting`. `values` are suggestions in the setting's own notation, the
/// likeliest first; they are empty where only the caller can know. `description` words the remedy
/// in terms of Swift; a program with terms of its own, such as a command line, makes its sentence
/// from the same parts.
public struct Remedy: Hashable, Sendable {
  /// A setting, by its name in the library. Compare it with the constants; new ones may be added.
  public struct Setting: Hashable, Sendable, CustomStringConvertible {
    /// A dotted name such as `pagination.items` or `XMLLimits.tagBytes`.
    public let description: String

    /// Creates a setting for a source of your own.
    public init(_ name: String) { description = name }
  }

  /// The setting to change.
  public var setting: Setting
  /// Values that would fit, the likeliest first; for a limit without values, a higher one.
  public var values: [String]
  /// The circumstances in which the remedy is right, as `if that is right for this API`; nil if it
  /// always is.
  public var condition: String?

  /// Creates a remedy: change `setting`, to one of `values` if any are known.
  public init(_ setting: Setting, _ values: [String] = [], condition: String? = nil) {
    self.setting = setting
    self.values = values
    self.condition = condition
  }

  /// Returns the remedy of raising a limit, which an honest server may exceed.
  package static func raise(_ limit: Setting) -> Remedy {
    Remedy(limit, condition: "if that is right for this API")
  }

  /// Returns a sentence that says to do `imperative`, under the remedy's condition.
  package func sentence(_ imperative: String) -> String {
    let text = condition.map { "\($0), \(imperative)." } ?? "\(imperative)."
    return text.prefix(1).uppercased() + text.dropFirst()
  }
}

extension Remedy.Setting {
  /// Where the items of a page are: paths, with the prefix `optional:` where an empty list may be
  /// left out, `members:` where the items are the members of an object, and `oneOrMany:` where one
  /// item may stand without a list.
  public static let items = Self("pagination.items")
  /// Where the next page's continuation comes from.
  public static let next = Self("pagination.next")
  /// Where the continuation goes.
  public static let send = Self("pagination.send")
  /// What ends the listing: `emptyPage`, `sameCursor`, `status:204`.
  public static let end = Self("pagination.end")
  /// Where the server says how many items there are.
  public static let total = Self("pagination.total")
  /// How many items are asked for in a page.
  public static let pageSize = Self("request.pageSize")
  /// Which links are followed: `rebase`, `upgradeScheme`, `allow:host`.
  public static let links = Self("pagination.policy.links")
  /// Whether the continuation names a session of the server, and stays the same.
  public static let handle = Self("pagination.policy.handle")
  /// Which answers are failures, and of which kind.
  public static let failure = Self("pagination.policy.failure")
  /// Whether a request other than GET only queries, so that it may be repeated.
  public static let isQuery = Self("pagination.request.isQuery")
  /// The method of the first request.
  public static let method = Self("request.method")
  /// The format of the pages: `JSON`, `XML`, `JSON Lines` or `CSV`.
  public static let decoder = Self("cursor.decoder")
  /// Where a walk begins: at `start`, at the `page` of a position, or at the position `unchecked`.
  public static let position = Self("cursor.position")
  /// How items that cannot be decoded are treated.
  public static let badItems = Self("configuration.badItems")
  /// Whether requests may be sent unencrypted.
  public static let allowsPlainHTTP = Self("configuration.allowsPlainHTTP")
  /// Whether a body that ends with its connection counts as complete.
  public static let acceptsUnprovenEnd = Self("configuration.acceptsUnprovenEnd")
}

extension Remedy: CustomStringConvertible {
  /// The remedy as a sentence with the library's names.
  public var description: String { sentence(imperative).escapedForDisplay }

  private var imperative: String {
    let choices = values.map { setting.call($0) }.joined(separator: " or ")
    switch setting {
    case .items where !values.isEmpty: return "use \(choices)"
    case .end where !values.isEmpty: return "add the end rule \(choices)"
    case .failure where !values.isEmpty: return "add the failure rule \(choices)"
    case .links where !values.isEmpty: return "use the link policy \(choices)"
    case .pageSize: return values.isEmpty ? "give a page size" : "ask for \(choices) items"
    case .method: return "make it a \(choices)"
    case .decoder: return "decode it as \(choices)"
    case .position: return choices
    case .allowsPlainHTTP: return "allow plain http by \(setting)"
    case .next, .send, .end, .total, .items, .links, .failure: return "correct \(setting)"
    default: return values.isEmpty ? "raise \(setting)" : "set \(setting) to \(choices)"
    }
  }
}

extension Remedy.Setting {
  /// Returns a value as it is written in Swift.
  fileprivate func call(_ value: String) -> String {
    let parts = value.split(separator: ":", maxSplits: 1).map(String.init)
    switch (self, parts.first) {
    case (.items, "optional"?), (.items, "members"?), (.items, "oneOrMany"?):
      return ".items(at: .\(parts[0])(\"\(parts.last ?? "")\"))"
    case (.items, _): return ".items(at: \"\(value)\")"
    case (.end, "status"?): return ".status([\(parts.last ?? "")])"
    case (.end, _): return "." + value
    case (.failure, _): return "FailureRule(when: .status(\(value)), .empty)"
    case (.links, "allow"?): return "allow([\"\(parts.last ?? "")\"])"
    case (.badItems, _): return "." + value
    case (.position, "start"?): return "begin at the start"
    case (.position, "page"?): return "begin at the start of the page: position.page"
    case (.position, _): return "go on from position.\(value)"
    default: return value
    }
  }
}
