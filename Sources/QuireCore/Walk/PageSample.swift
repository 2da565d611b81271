/// What some items of a page hold, member by member, as hashes.
///
/// By this a page is known again although something in its items changes with every answer: an age, a
/// time, a counter. Some twenty items of a page and at most 32 members of each are looked at, so a
/// large page costs little more than a small one.
package struct PageSample: Sendable {
  /// A member of an item, by the hash of its path, and the hash of what it holds.
  struct Value: Hashable {
    var member: Int
    var value: Int
  }

  /// One item being looked at.
  package struct Item {
    /// The most members that are looked at, and how deep they may lie.
    package static let mostMembers = 32
    package static let deepest = 3

    fileprivate(set) var values: [Value] = []
    fileprivate var names: [Int: String]

    /// Whether further members are left out.
    package var isFull: Bool { values.count >= Self.mostMembers }

    /// Takes note of a member, of several with one path of the first; `name` is that path, with
    /// slashes.
    package mutating func add(
      _ member: Int, holding value: Int, named name: @autoclosure () -> String
    ) {
      guard !isFull, !values.contains(where: { $0.member == member }) else { return }
      values.append(Value(member: member, value: value))
      if names[member] == nil { names[member] = name() }
    }
  }

  /// How many items the page has.
  package private(set) var count = 0
  /// The items that were looked at.
  private(set) var items: [[Value]] = []
  /// The paths of members, by their hashes.
  private(set) var names: [Int: String] = [:]
  /// Whether the page was asked for by counting items or pages, so that a server that says the same
  /// twice may well mean it.
  package var isCounted = false

  package init() {}

  /// Whether the item with this index is looked at: the first eight, and ever fewer of those behind.
  package static func takes(_ index: Int) -> Bool {
    index < 8 || index & (index - 1) == 0 || index % 3 == 0 && takesThird(index / 3)
  }

  private static func takesThird(_ index: Int) -> Bool { index & (index - 1) == 0 }

  /// The next item of the page, with its index in it; `look` is called if it is one to look at.
  package mutating func add(itemAt index: Int, _ look: (inout Item) -> Void) {
    count += 1
    guard Self.takes(index) else { return }
    var item = Item(names: names)
    // Only one may hold the names, or each new one would copy them.
    names = [:]
    look(&item)
    names = item.names
    items.append(item.values)
  }

  /// Adds the items that came next.
  package mutating func append(_ more: PageSample) {
    count += more.count
    items += more.items
    names.merge(more.names) { old, _ in old }
  }

  /// Whether all items looked at hold the same.
  var isUniform: Bool { items.allSatisfy { $0 == items[0] } }
}
