/// Whether a page holds the records of an earlier one, told by samples of both.
///
/// Two pages of one listing may look alike and be right: readings of the same sensors, one log line
/// over and over. So a page is a repetition only where what tells its records apart is the same in
/// both, item by item, and what differs is of the kind that servers write anew with every answer.
struct PageLikeness {
  enum Verdict: Hashable {
    case different
    /// The same records, as far as can be told, but for these members, which might as well be what
    /// tells them apart. One such page says little, a thousand in a row say enough.
    case alike(changed: [String])
    /// The same records, but for these members.
    case repeated(changed: [String])
  }

  /// A member over all items of both pages.
  private struct Column {
    var role: MemberRole
    /// Whether it lies at the top of an item.
    var isOwn: Bool
    /// In the later page, in the order of the items.
    var values: [Int] = []
    var hasChanged = false

    /// Whether no two items hold the same.
    func tellsApart(_ count: Int) -> Bool { count > 1 && Set(values).count == count }
  }

  private let count: Int
  /// In the order of their first appearance.
  private let columns: [(name: String, column: Column)]

  /// Compares two pages; nil where they have nothing to do with one another.
  init?(_ earlier: PageSample, _ later: PageSample, roles: inout MemberRoles) {
    guard earlier.count == later.count, earlier.items.count == later.items.count, later.count > 0
    else { return nil }
    // Most pages are told apart by the first member of the first item that should do so.
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
    self.columns = order.compactMap { member in
      columns[member].map { (later.name(of: member) ?? earlier.name(of: member) ?? "", $0) }
    }
  }

  /// What the comparison says.
  var verdict: Verdict {
    let changed = columns.filter(\.column.hasChanged)
    let roles = Set(changed.map(\.column.role))
    let same = columns.map(\.column).filter { !$0.hasChanged }
    let names = changed.map(\.name)
    let identities = self.identities
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
      // Several versions of one record on a page, say.
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

  /// The members that say which records these are: their own identities, else those inside of an
  /// envelope around each, else those of something.
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

  /// The verdict on items without an identity.
  private func unidentified(
    _ changed: [Column], _ roles: Set<MemberRole>, _ same: [Column], _ names: [String]
  ) -> Verdict {
    let isOnlyVolatile = !names.isEmpty && roles.isSubset(of: [.volatile])
    // One item cannot show what would tell it from another one.
    guard count > 1 else {
      let isTitled = same.contains { $0.role == .title }
      return isOnlyVolatile && isTitled ? .alike(changed: names) : .different
    }
    let telling: Set<MemberRole> = [.title, .other, .time, .progress]
    if changed.contains(where: { telling.contains($0.role) && $0.tellsApart(count) }),
      !same.contains(where: { $0.role == .title && $0.tellsApart(count) })
        || changed.contains(where: { $0.role == .title || $0.role == .other })
    {
      return .different
    }
    let apart = same.filter { [.title, .other].contains($0.role) && $0.tellsApart(count) }
    guard !apart.isEmpty else { return isOnlyVolatile ? .alike(changed: names) : .different }
    let isTitled = apart.contains { $0.role == .title }
    let isStamped = roles.isSubset(of: [.volatile, .time])
    return isOnlyVolatile || isTitled && isStamped
      ? .repeated(changed: names) : .alike(changed: names)
  }
}

extension PageSample {
  /// What the first item is known by: its first member of its own that says it; nil where there is none.
  func identity(_ roles: inout MemberRoles) -> Value? {
    items.first?.first { roles[$0.member, in: self] == (.identity, true) }
  }
}

/// The roles of members by the hashes of their paths, each looked up once.
struct MemberRoles: Sendable {
  /// What a hostile server can make a walk remember.
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

/// The paths of members and their hashes: so few that looking at each of them is the fastest way to find one.
private struct MemberNames {
  private(set) var all: [(member: Int, name: String)] = []

  mutating func add(_ member: Int, _ name: @autoclosure () -> String) {
    if !all.contains(where: { $0.member == member }) { all.append((member, name())) }
  }
}

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
    static let mostMembers = 32
    package static let deepest = 3

    fileprivate(set) var values: [Value] = []
    fileprivate var names: MemberNames
    /// What the item looked at before it holds: most have the same members in the same order, of which none needs
    /// to be looked for.
    private let before: [Value]
    private var isAsBefore = true

    fileprivate init(names: MemberNames, before: [Value]) {
      self.names = names
      self.before = before
      values.reserveCapacity(before.isEmpty ? Self.mostMembers : before.count)
    }

    /// Whether further members are left out.
    package var isFull: Bool { values.count >= Self.mostMembers }

    /// Takes note of a member, of several with one path of the first; `name` is that path, with
    /// slashes.
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

  /// How many items the page has.
  package private(set) var count = 0
  /// The items that were looked at.
  private(set) var items: [[Value]] = []
  private var names = MemberNames()
  /// The items at both ends; empty where pages overlap by design.
  package var edges = PageEdges()
  /// Whether the page was asked for by counting items or pages, so that a server that says the same
  /// twice may well mean it.
  package var isCounted = false

  package init() {}

  /// Whether the item with this index is looked at: the first eight, and ever fewer of those behind.
  static func takes(_ index: Int) -> Bool {
    index < 8 || index & (index - 1) == 0 || index % 3 == 0 && takesThird(index / 3)
  }

  private static func takesThird(_ index: Int) -> Bool { index & (index - 1) == 0 }

  /// The next item of the page, with its index in it; `look` is called if it is one to look at.
  package mutating func add(itemAt index: Int, _ look: (inout Item) -> Void) {
    count += 1
    guard Self.takes(index) else { return }
    var item = Item(names: names, before: items.last ?? [])
    // Only one may hold the names, or each new one would copy them.
    names = MemberNames()
    look(&item)
    names = item.names
    items.append(item.values)
  }

  /// Adds the items that came next.
  package mutating func append(_ more: PageSample) {
    count += more.count
    items += more.items
    edges.append(more.edges)
    for (member, name) in more.names.all { names.add(member, name) }
  }

  /// The path of a member, by its hash.
  func name(of member: Int) -> String? { names.all.first { $0.member == member }?.name }

  /// Whether all items looked at hold the same.
  var isUniform: Bool { items.allSatisfy { $0 == items[0] } }
}

/// What the name of a member says about how far it tells items apart.
///
/// Names are all there is to go by: a time may be when a record was made or when the server wrote the
/// answer.
enum MemberRole: Hashable, Sendable {
  /// What the record is called by: `id`, `guid`, `@about`.
  case identity
  /// The identity of something: `event_id`, which may be the record's own, or `sensorId`, which is not.
  case reference
  /// What people would call it by: `title`, `url`.
  case title
  /// A time or a date, of the record or of the answer.
  case time
  /// Which of many versions, parts or steps it is: `version`, `seq`, `year`.
  case progress
  /// What changes by itself: `age`, `views`, `nonce`, `fetched_at`.
  case volatile
  /// Anything else.
  case other

  /// The role of the member at a path, by its last name.
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
    } else {
      self = .other
    }
  }

  /// The words of a name in lower case: `lastSeenAt`, `last_seen_at` and `x:last-seen-at` are the same.
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

  private static func isVolatile(_ words: [String], _ name: String) -> Bool {
    if volatileNames.contains(name) || words.contains(where: volatileWords.contains) { return true }
    guard let last = words.last else { return false }
    if volatileEnds.contains(last) { return true }
    // The time or the number of the answer, and not of the record.
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
    "title", "name", "headline", "subject", "label", "summary", "description", "text", "body",
    "content", "caption", "url", "href", "link", "self", "uri", "slug", "permalink", "email",
    "login",
    "message", "path", "file",
  ]
  private static let titleEnds: Set<String> = ["name", "title", "url", "uri", "link", "href"]
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
  /// Words that say it wherever they stand in a name.
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
