/// What a caller can change so that a failure or a doubt does not come back: a setting, and values
/// that would fit it.
///
/// A program matches on `setting`; `values` are suggestions in the setting's own notation, the
/// likeliest first, and empty where only the caller can know.
public struct Remedy: Hashable, Sendable {
  /// What to change, by its name in the library. Compare with the constants; new ones may be added.
  public struct Setting: Hashable, Sendable, CustomStringConvertible {
    /// A dotted name such as `pagination.items`.
    public let description: String

    /// A setting of your own, for a source of your own.
    public init(_ name: String) { description = name }
  }

  /// What to change.
  public var setting: Setting
  /// Values that would fit, the likeliest first.
  public var values: [String]

  /// A remedy by changing `setting`, to one of `values` if any are known.
  public init(_ setting: Setting, _ values: [String] = []) {
    self.setting = setting
    self.values = values
  }
}

extension Remedy.Setting {
  /// Where the items of a page are.
  public static let items = Self("pagination.items")
  /// Where the next page's continuation comes from.
  public static let next = Self("pagination.next")
  /// Where the continuation goes.
  public static let send = Self("pagination.send")
  /// What ends the listing.
  public static let end = Self("pagination.end")
  /// Where the server says how many items there are.
  public static let total = Self("pagination.total")
  /// How many items are asked for in a page.
  public static let pageSize = Self("request.pageSize")
}
