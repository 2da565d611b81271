/// Decides whether a page holds the records of an earlier one, by samples of both.
///
/// Two pages of one listing may look alike and be right: readings of the same sensors, one log line
/// over and over. So a page repeats another one only if the members that tell its records apart are
/// the same in both, item by item, and if the members that differ are of a kind that servers write
/// anew with every answer.
struct PageLikeness {
  enum Verdict: Hashable {
    case different
    /// Apparently the same records, except for these members, which might be the ones that tell
    /// records apart. One such page proves little, a thousand in a row prove enough.
    case alike(changed: [String])
    /// The same records, except for these members.
    case repeated(changed: [String])
  }

  /// A member of all items of both pages.
  private struct Column {
    var role: MemberRole
    /// Whether the member lies at the top level of an item.
    var isOwn: Bool
    /// The hashes of its values in the later page, in the order of the items.
    var values: [Int] = []
    var hasChanged = false

    /// Whether no two items have the same value.
    func tellsApart(_ count: Int) -> Bool { count > 1 && Set(values).count == count }
  }

  private let count: Int
  /// Whether items have members that were not sampled, which may be the ones that tell records apart.
  private let isCutOff: Bool
  /// Whether the pages may differ where they were not sampled.
  private let mayDifferElsewhere: Bool
  /// The members in the order of their first appearance.
  private let columns: [(name: String, column: Column)]

  /// Compares two pages, which may be known to differ; nil if they have nothing in common.
  init?(
    _ earlier: PageSample, _ later: PageSample, areKnownToDiffer: Bool = false,
    roles: inout MemberRoles
  ) {
    guard earlier.count == later.count, earlier.items.count == later.items.count, later.count > 0
    else { return nil }
    // Most pages differ in the first item's identity, and need no further comparison.
    for (old, new) in zip(earlier.items[0], later.items[0])
    where old.member == new.member && old.value != new.value {
      if roles[new.member, in: later] == (.identity, true) { return nil }
    }
    var columns: [Int: Column] = [:]
    var order: [Int] = []
    for (old, new) in zip(earlier.items, later.items) {
      var before: [Int: Int] = [:]
      for value in old { before[value.member] = value.value }
      for value in new {
        if columns[value.member] == nil {
          let (role, isOwn) = roles[value.member, in: later]
          columns[value.member] = Column(role: role, isOwn: isOwn)
          order.append(value.member)
        }
        columns[value.member]?.values.append(value.value)
        if before.removeValue(forKey: value.member) != value.value {
          columns[value.member]?.hasChanged = true
        }
      }
      for member in before.keys.sorted() {
        if columns[member] == nil {
          let (role, isOwn) = roles[member, in: earlier]
          columns[member] = Column(role: role, isOwn: isOwn)
          order.append(member)
        }
        columns[member]?.hasChanged = true
      }
    }
    count = later.items.count
    let isCutOff = earlier.isCutOff || later.isCutOff
    self.isCutOff = isCutOff
    mayDifferElsewhere = areKnownToDiffer && (isCutOff || later.items.count < later.count)
    self.columns = order.compactMap { member in
      columns[member].map { (later.name(of: member) ?? earlier.name(of: member) ?? "", $0) }
    }
  }

  /// The result of the comparison.
  var verdict: Verdict {
    let changed = columns.filter(\.column.hasChanged)
    let roles = Set(changed.map(\.column.role))
    let same = columns.map(\.column).filter { !$0.hasChanged }
    let names = changed.map(\.name)
    let identities = self.identities
    if names.isEmpty, mayDifferElsewhere {
      return identities.isEmpty && isCutOff ? .different : .alike(changed: [])
    }
    guard !identities.isEmpty else {
      return unidentified(changed.map(\.column), roles, same, names)
    }
    if identities.contains(where: \.hasChanged) { return .different }
    let isOwn = identities.contains { $0.role == .identity }
    let isOnlyVolatile = roles.isSubset(of: [.volatile])
    guard count > 1 else {
      let isRestamped = isOwn && isOnlyVolatile && !names.isEmpty
      return isRestamped ? .repeated(changed: names) : .alike(changed: names)
    }
    guard areToldApart(by: identities) else {
      // For example several versions of one record on a page.
      return changed.contains { $0.column.tellsApart(count) } ? .different : .alike(changed: names)
    }
    let isStamped = roles.isSubset(of: [.volatile, .time])
    if isOwn {
      let isSlight = changed.count <= 2 && changed.count < same.count && !roles.contains(.progress)
      return isStamped || isSlight ? .repeated(changed: names) : .alike(changed: names)
    }
    let isTitled = same.contains { $0.role == .title && $0.tellsApart(count) }
    return isOnlyVolatile || isStamped && isTitled
      ? .repeated(changed: names) : .alike(changed: names)
  }

  /// The members that identify the records: identities at the top level of an item, else references
  /// at its top level, else identities inside an envelope, if they tell the items apart.
  private var identities: [Column] {
    let all = columns.map(\.column).filter { $0.role == .identity }
    let own = all.filter(\.isOwn)
    if !own.isEmpty { return own }
    let references = columns.map(\.column).filter { $0.role == .reference && $0.isOwn }
    if !references.isEmpty { return references }
    return all.filter { $0.tellsApart(count) || count == 1 }
  }

  private func areToldApart(by identities: [Column]) -> Bool {
    if identities.contains(where: { $0.tellsApart(count) }) { return true }
    guard identities.allSatisfy({ $0.values.count == count }) else { return false }
    return Set((0..<count).map { item in identities.map { $0.values[item] } }).count == count
  }

  /// Returns the verdict on items without an identity.
  private func unidentified(
    _ changed: [Column], _ roles: Set<MemberRole>, _ same: [Column], _ names: [String]
  ) -> Verdict {
    let isOnlyVolatile = !names.isEmpty && roles.isSubset(of: [.volatile])
    // One item alone cannot show which members tell it from others.
    guard count > 1 else {
      let isTitled = same.contains { $0.role == .title || $0.role == .name }
      return isOnlyVolatile && isTitled ? .alike(changed: names) : .different
    }
    let naming: Set<MemberRole> = [.title, .name]
    let telling: Set<MemberRole> = [.title, .name, .other, .time, .progress]
    if changed.contains(where: { telling.contains($0.role) && $0.tellsApart(count) }),
      !same.contains(where: { naming.contains($0.role) && $0.tellsApart(count) })
        || changed.contains(where: { naming.contains($0.role) || $0.role == .other })
    {
      return .different
    }
    let apart = same.filter {
      (naming.contains($0.role) || $0.role == .other) && $0.tellsApart(count)
    }
    guard !apart.isEmpty else { return isOnlyVolatile ? .alike(changed: names) : .different }
    // What has a name may be read again at another time.
    let isTitled = apart.contains { $0.role == .title }
    let isStamped = roles.isSubset(of: [.volatile, .time])
    return isOnlyVolatile || isTitled && isStamped
      ? .repeated(changed: names) : .alike(changed: names)
  }
}

extension PageSample {
  /// Returns the first identity at the top level of the first item; nil if it has none.
  func identity(_ roles: inout MemberRoles) -> Value? {
    items.first?.first { roles[$0.member, in: self] == (.identity, true) }
  }
}

/// The roles of members by the hashes of their paths, each determined once.
struct MemberRoles: Sendable {
  /// The most roles that are remembered, so that a hostile server cannot fill the memory.
  private static let most = 1024

  private var known: [Int: (role: MemberRole, isOwn: Bool)] = [:]

  subscript(member: Int, in sample: PageSample) -> (role: MemberRole, isOwn: Bool) {
    mutating get {
      if let known = known[member] { return known }
      let path = sample.name(of: member) ?? ""
      let role = (MemberRole(path: path), !path.contains("/"))
      if known.count < Self.most { known[member] = role }
      return role
    }
  }
}

/// The paths of members and their hashes. Unsorted: there are so few of them that looking at each
/// is the fastest way to find one.
private struct MemberNames {
  private(set) var all: [(member: Int, name: String)] = []

  mutating func add(_ member: Int, _ name: @autoclosure () -> String) {
    if !all.contains(where: { $0.member == member }) { all.append((member, name())) }
  }
}

/// Hashes of what some items of a page hold, member by member.
///
/// A sample recognises a page although something in its items changes with every answer: an age, a
/// time, a counter. It takes some twenty items of a page and at most 32 members of each, so a large
/// page costs little more than a small one.
package struct PageSample: Sendable {
  /// A member of an item: the hash of its path, and the hash of its value.
  struct Value: Hashable {
    var member: Int
    var value: Int
  }

  /// An item that is being sampled.
  package struct Item {
    /// The most members of an item that are sampled, and how deep they may lie.
    static let mostMembers = 32
    package static let deepest = 3

    fileprivate(set) var values: [Value] = []
    fileprivate var names: MemberNames
    /// The values of the item sampled before. Most items have the same members in the same order,
    /// and then no member has to be searched for.
    private let before: [Value]
    private var isAsBefore = true

    fileprivate init(names: MemberNames, before: [Value]) {
      self.names = names
      self.before = before
      values.reserveCapacity(before.isEmpty ? Self.mostMembers : before.count)
    }

    /// Whether further members are left out.
    package var isFull: Bool { values.count >= Self.mostMembers }

    /// Adds a member, unless one with the same path was added. `name` is that path, with slashes.
    package mutating func add(
      _ member: Int, holding value: Int, named name: @autoclosure () -> String
    ) {
      guard !isFull else { return }
      let place = values.count
      isAsBefore = isAsBefore && place < before.count && before[place].member == member
      if !isAsBefore {
        guard !values.contains(where: { $0.member == member }) else { return }
        names.add(member, name())
      }
      values.append(Value(member: member, value: value))
    }
  }

  /// The number of items of the page.
  package private(set) var count = 0
  /// The items that were sampled.
  private(set) var items: [[Value]] = []
  private var names = MemberNames()
  /// The items at both ends of the page; empty where pages overlap by design.
  package var edges = PageEdges()
  /// Whether the page was requested by counting items or pages, so that a server that repeats
  /// itself may well be right.
  package var isCounted = false

  package init() {}

  /// Whether the item at this index is sampled: the first eight, and ever fewer of those behind.
  static func takes(_ index: Int) -> Bool {
    index < 8 || index & (index - 1) == 0 || index % 3 == 0 && takesThird(index / 3)
  }

  private static func takesThird(_ index: Int) -> Bool { index & (index - 1) == 0 }

  /// Adds the next item of the page, with its index in it; `look` is called if the item is sampled.
  package mutating func add(itemAt index: Int, _ look: (inout Item) -> Void) {
    count += 1
    guard Self.takes(index) else { return }
    var item = Item(names: names, before: items.last ?? [])
    // Only one value may hold the names, or each new name would copy them.
    names = MemberNames()
    look(&item)
    names = item.names
    items.append(item.values)
  }

  /// Adds the sample of the items that follow.
  package mutating func append(_ more: PageSample) {
    count += more.count
    items += more.items
    edges.append(more.edges)
    for (member, name) in more.names.all { names.add(member, name) }
  }

  /// Returns the path of a member by its hash.
  func name(of member: Int) -> String? { names.all.first { $0.member == member }?.name }

  /// Whether items may have members that were not sampled.
  var isCutOff: Bool { items.contains { $0.count >= Item.mostMembers } }

  /// Whether all sampled items are equal.
  var isUniform: Bool { items.allSatisfy { $0 == items[0] } }
}

extension JSONValue {
  /// The member of an object that identifies the record, judged by its name; nil if there is none.
  package var identity: Member? {
    guard case .object(let members) = self else { return nil }
    return members.first { member in
      switch member.value {
      case .string, .number: MemberRole.identifies(member.name)
      case .null, .bool, .array, .object: false
      }
    }
  }
}

/// How far a member tells items apart, judged by its name.
///
/// The name is all there is to go by: a time may be that of the record or that of the answer.
enum MemberRole: Hashable, Sendable {
  /// The identity of the record: `id`, `guid`, `@about`.
  case identity
  /// An identity of the record or of something else: `event_id`, `sensorId`.
  case reference
  /// The title of the record: `title`, `headline`.
  case title
  /// A name or an address, of the record or of the thing that it is about: `name`, `url`.
  case name
  /// A time or a date, of the record or of the answer.
  case time
  /// The number of a version, part or step: `version`, `seq`, `year`.
  case progress
  /// A value that changes without the record: `age`, `views`, `nonce`, `fetched_at`.
  case volatile
  /// Anything else.
  case other

  /// Creates the role of the member at a path, by the last name in it.
  init(path: String) {
    let words = Self.words(of: path.split(separator: "/").last.map(String.init) ?? path)
    let name = words.joined()
    if Self.isVolatile(words, name) {
      self = .volatile
    } else if Self.progressNames.contains(name) || Self.progressEnds.contains(words.last ?? "") {
      self = .progress
    } else if Self.identities.contains(name) {
      self = .identity
    } else if words.count > 1, Self.identityEnds.contains(words.last ?? "") {
      self = .reference
    } else if Self.isTime(words, name) {
      self = .time
    } else if Self.titles.contains(name) || Self.titleEnds.contains(words.last ?? "") {
      self = .title
    } else if Self.names.contains(name) || Self.nameEnds.contains(words.last ?? "") {
      self = .name
    } else {
      self = .other
    }
  }

  /// Returns the words of a name in lower case, which are the same for `lastSeenAt`, `last_seen_at`
  /// and `x:last-seen-at`.
  static func words(of name: String) -> [String] {
    var words = [""]
    var previous: Unicode.Scalar = "_"
    for scalar in name.unicodeScalars.suffix(64) {
      if scalar == ":" {
        words = [""]
      } else if !scalar.properties.isAlphabetic, !("0"..."9").contains(scalar) {
        words.append("")
      } else {
        if scalar.properties.isUppercase, previous.properties.isLowercase { words.append("") }
        words[words.count - 1] += scalar.properties.lowercaseMapping
      }
      previous = scalar
    }
    return words.filter { !$0.isEmpty }
  }

  fileprivate static func identifies(_ name: String) -> Bool {
    identities.contains(words(of: name).joined())
  }

  private static func isVolatile(_ words: [String], _ name: String) -> Bool {
    if volatileNames.contains(name) || words.contains(where: volatileWords.contains) { return true }
    guard let last = words.last else { return false }
    if volatileEnds.contains(last) { return true }
    // A time or an id of the answer, and not of the record.
    let ofAnswer = words.dropLast().contains(where: answerWords.contains)
    return ofAnswer && (last == "id" || timeWords.contains(last))
  }

  private static func isTime(_ words: [String], _ name: String) -> Bool {
    if words.contains(where: timeWords.contains) { return true }
    if words.count > 1, ["at", "on", "since", "until"].contains(words.last ?? "") { return true }
    return ["date", "time", "createdat", "updatedat", "modifiedat", "publishedat"]
      .contains { name.hasSuffix($0) }
  }
}

extension MemberRole {
  private static let identities: Set<String> = [
    "id", "ids", "identifier", "uuid", "guid", "uid", "oid", "pk", "urn", "doi", "isbn", "ean",
    "gtin", "sku", "about", "key", "rid", "gid", "nid", "objectid", "itemid", "recordid", "nodeid",
    "entityid", "primarykey", "accession",
  ]
  private static let identityEnds: Set<String> = ["id", "uuid", "guid", "key", "ref"]
  private static let titles: Set<String> = [
    "title", "headline", "subject", "summary", "caption", "permalink",
  ]
  private static let titleEnds: Set<String> = ["title"]
  private static let names: Set<String> = [
    "name", "label", "description", "text", "body", "content", "url", "href", "link", "self", "uri",
    "slug", "email", "login", "message", "path", "file",
  ]
  private static let nameEnds: Set<String> = ["name", "url", "uri", "link", "href"]
  private static let timeWords: Set<String> = [
    "time", "date", "datetime", "timestamp", "ts", "created", "updated", "modified", "published",
    "recorded", "measured", "observed", "posted", "issued", "started", "ended", "when", "start",
    "end", "begin", "stop", "t", "dt", "datestamp",
  ]
  private static let progressNames: Set<String> = [
    "no", "num", "idx", "pos", "position", "page", "line", "row", "part", "chapter", "step",
    "order",
    "ordinal", "cursor", "year", "month", "day", "week", "quarter", "rev", "generation", "block",
    "height", "slot", "epoch", "tick", "rank",
  ]
  private static let progressEnds: Set<String> = [
    "version", "revision", "seq", "sequence", "number", "index", "offset", "period", "locale",
    "lang",
    "language",
  ]
  private static let volatileNames: Set<String> = [
    "session", "request", "trace", "stale", "fresh", "isnew", "online",
  ]
  /// Words that make a member volatile wherever they stand in its name.
  private static let volatileWords: Set<String> = [
    "age", "ago", "elapsed", "uptime", "ttl", "now", "nonce", "random", "rand", "salt", "signature",
    "fetched", "retrieved", "served", "generated", "accessed", "cached", "polled", "refreshed",
    "rendered", "expires", "expiry", "expiration", "expire", "seen", "stamp", "stamped", "volatile",
    "etag", "counter",
  ]
  private static let volatileEnds: Set<String> = [
    "views", "hits", "visits", "visitors", "downloads", "plays", "likes", "votes", "reads", "count",
    "token", "sig",
  ]
  private static let answerWords: Set<String> = [
    "current", "server", "response", "system", "query", "request", "retrieval", "crawl", "render",
    "session", "trace", "correlation", "fetch", "access", "cache",
  ]
}
