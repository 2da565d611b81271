import QuirePagination
import QuireCore

/// The members that identify the items of a listing, found in its first page.
///
/// Items are not compared as a whole: an age, a score or a timestamp changes between answers, and
/// would make the same item look new.
struct ItemIdentity {
  /// The result of comparing the items of a later page with the items of earlier ones.
  struct Verdict {
    /// The number of items that an earlier page had.
    var repeated = 0
    /// The number of items that share distinguishing values with an earlier one, but not its
    /// identifier: they may be new or not.
    var similar = 0
  }

  /// The path of the identifying member; nil if none is known.
  private let key: [String]?
  /// The paths of members that differ in all items of the first page.
  private let unique: [[String]]
  /// Whether the first page had one item at most, so that every member differs.
  private let isAlone: Bool
  private var keys: Set<JSONValue> = []
  private var values: [Set<JSONValue>]
  private var whole: Set<JSONValue> = []

  /// Finds the identifying members in the items of a first page.
  init(_ items: [JSONValue]) {
    let leaves = items.map(Self.leavesByPath)
    isAlone = items.count < 2
    let order = items.first.map { Self.leaves(of: $0).map(\.0) } ?? []
    unique = order.filter { path in
      let found = leaves.compactMap { $0[path] }
      return found.count == items.count && Set(found).count == items.count
        && (Self.rank(of: path) != nil || !Self.isPlace(found))
    }
    key =
      unique.enumerated().compactMap { index, path in
        Self.rank(of: path).map { (path: path, rank: ($0, path.count, index)) }
      }.min { $0.rank < $1.rank }?.path
    values = unique.map { _ in [] }
    add(items)
  }

  /// Adds the items of a later page, so that still later ones are compared with them too.
  mutating func add(_ items: [JSONValue]) {
    for item in items {
      whole.insert(item)
      let leaves = Self.leavesByPath(of: item)
      if let key, let value = leaves[key] { keys.insert(value) }
      for (index, path) in unique.enumerated() {
        if let value = leaves[path] { values[index].insert(value) }
      }
    }
  }

  /// Compares the items of a later page with all earlier ones.
  func verdict(on items: [JSONValue]) -> Verdict {
    var verdict = Verdict()
    for item in items {
      let leaves = Self.leavesByPath(of: item)
      if whole.contains(item) || key.flatMap({ leaves[$0] }).map(keys.contains) == true {
        verdict.repeated += 1
        continue
      }
      let others = unique.indices.filter { unique[$0] != key }
      let shared = others.count { index in
        leaves[unique[index]].map(values[index].contains) ?? false
      }
      if key == nil {
        if shared * 2 > others.count {
          verdict.repeated += 1
        } else if shared > 0 {
          verdict.similar += 1
        }
      } else if !isAlone, shared > 1, shared * 2 > others.count {
        verdict.similar += 1
      }
    }
    return verdict
  }

  // MARK: Members

  private static let deepest = 3
  private static let most = 60

  /// Returns the strings and numbers of an item by path, at most `most` of them.
  private static func leaves(of item: JSONValue) -> [([String], JSONValue)] {
    var leaves: [([String], JSONValue)] = []
    func visit(_ value: JSONValue, _ path: [String]) {
      guard leaves.count < most, path.count <= deepest else { return }
      switch value {
      case .object(let members):
        for member in members.prefix(most) { visit(member.value, path + [member.name]) }
      case .array(let elements):
        for (index, element) in elements.prefix(8).enumerated() {
          visit(element, path + [String(index)])
        }
      case .string, .number: leaves.append((path, value))
      case .bool, .null: break
      }
    }
    visit(item, [])
    return leaves
  }

  /// Returns the leaves of an item. Of several at one path, the first counts.
  private static func leavesByPath(of item: JSONValue) -> [[String]: JSONValue] {
    Dictionary(leaves(of: item), uniquingKeysWith: { first, _ in first })
  }

  /// Whether the values only number the items of a page from 0 or 1, and so repeat on every page.
  private static func isPlace(_ values: [JSONValue]) -> Bool {
    let numbers = values.compactMap { Int($0.plainText) }
    guard values.count > 1, numbers.count == values.count, let first = numbers.first,
      first == 0 || first == 1
    else { return false }
    return numbers.enumerated().allSatisfy { $0.element == first + $0.offset }
  }

  /// Returns the rank of a member as the identifier of its item, by its name: 0 is the likeliest;
  /// nil if the name suggests nothing.
  private static func rank(of path: [String]) -> Int? {
    // The text of an XML element, or a wrapped value, counts by the name around it.
    var path = path[...]
    while let last = path.last, ["#text", "$t", "value", "_", "$oid"].contains(last) {
      path.removeLast()
    }
    guard let name = path.last else { return nil }
    let normal = PaginationVocabulary.normalized(name)
    if let place = identifiers.firstIndex(of: normal) { return place }
    let hasEnding = ["id", "uuid", "guid", "key"].contains { normal.hasSuffix($0) }
    return hasEnding && !isOfRequest(normal) ? identifiers.count : nil
  }

  /// Whether a member identifies the request instead of the item.
  private static func isOfRequest(_ name: String) -> Bool {
    ["request", "trace", "session", "correlation", "impression"].contains { name.hasPrefix($0) }
  }

  private static let identifiers = [
    "id", "uuid", "guid", "key", "arn", "urn", "doi", "isbn", "sku", "sha", "number", "code",
    "href",
    "self", "url", "uri", "loc", "link", "slug", "login", "username", "email", "name", "path",
    "filename", "title", "label",
  ]
}
