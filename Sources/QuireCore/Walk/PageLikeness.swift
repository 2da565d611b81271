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
    for (old, new) in zip(earlier.items[0], later.items[0]) where old.member == new.member {
      if old.value != new.value, roles[new.member, in: later].role == .identity,
        roles[new.member, in: later].isOwn
      {
        return nil
      }
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
      columns[member].map { (later.names[member] ?? earlier.names[member] ?? "", $0) }
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
  /// Whether an item says by which name it is to be known.
  func hasIdentity(_ roles: inout MemberRoles) -> Bool {
    items.first?.contains { roles[$0.member, in: self] == (.identity, true) } ?? false
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
      let path = sample.names[member] ?? ""
      let role = (MemberRole(path: path), !path.contains("/"))
      if known.count < Self.most { known[member] = role }
      return role
    }
  }
}
