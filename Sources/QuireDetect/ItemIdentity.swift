import QuirePagination
import QuireCore

/// What identifies the items of a listing, read off its first page.
///
/// Items are not compared whole: an age, a score or a time of reading changes from one answer to the
/// next, and makes the same item look new.
struct ItemIdentity {
  /// What a later page's items are beside those that came before.
  struct Verdict {
    /// Items that came before.
    var repeated = 0
    /// Items that share distinguishing values with an earlier one, but not its identifier: whether they
    /// are new is unknown.
    var alike = 0
  }

  /// Where items have what identifies them; nil where no member is known to.
  private let key: [String]?
  /// Where items have values that no two items of the first page share.
  private let unique: [[String]]
  /// Whether the first page had one item: then everything in it sets it apart.
  private let isAlone: Bool
  private var keys: Set<JSONValue> = []
  private var values: [Set<JSONValue>]
  private var whole: Set<JSONValue> = []

  /// What sets the items of a first page apart.
  init(_ items: [JSONValue]) {
    let leaves = items.map {
      Dictionary(Self.leaves(of: $0), uniquingKeysWith: { first, _ in first })
    }
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

  /// Takes in the items of a page that followed.
  mutating func add(_ items: [JSONValue]) {
    for item in items {
      whole.insert(item)
      let leaves = Dictionary(Self.leaves(of: item), uniquingKeysWith: { first, _ in first })
      if let key, let value = leaves[key] { keys.insert(value) }
      for (index, path) in unique.enumerated() {
        if let value = leaves[path] { values[index].insert(value) }
      }
    }
  }

  /// Compares the items of a later page with those that came before.
  func verdict(on items: [JSONValue]) -> Verdict {
    var verdict = Verdict()
    for item in items {
      let leaves = Dictionary(Self.leaves(of: item), uniquingKeysWith: { first, _ in first })
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
          verdict.alike += 1
        }
      } else if !isAlone, shared > 1, shared * 2 > others.count {
        verdict.alike += 1
      }
    }
    return verdict
  }

  // MARK: Members

  private static let deepest = 3
  private static let most = 60

  /// The scalars of an item by their paths, cut to a number that no item can exceed.
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

  /// Whether values only number the items of their page: they come again on every page.
  private static func isPlace(_ values: [JSONValue]) -> Bool {
    let numbers = values.compactMap { Int($0.plainText) }
    guard values.count > 1, numbers.count == values.count, let first = numbers.first,
      first == 0 || first == 1
    else { return false }
    return numbers.enumerated().allSatisfy { $0.element == first + $0.offset }
  }

  /// How likely a member of that name identifies its item, 0 the likeliest; nil where nothing says that
  /// it does.
  private static func rank(of path: [String]) -> Int? {
    // A text around a value, as XML has it, has its parent's name.
    var path = path[...]
    while let last = path.last, ["#text", "$t", "value", "_", "$oid"].contains(last) {
      path.removeLast()
    }
    guard let name = path.last else { return nil }
    let normal = PaginationVocabulary.normal(name)
    if let place = identifiers.firstIndex(of: normal) { return place }
    let hasEnding = ["id", "uuid", "guid", "key"].contains { normal.hasSuffix($0) }
    return hasEnding && !isOfRequest(normal) ? identifiers.count : nil
  }

  /// Members of items that name the request that brought them.
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
