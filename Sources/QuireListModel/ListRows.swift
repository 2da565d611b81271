import QuireCore
import QuireLists

/// Decides which items a list shows: those of the pages held, each once, with local edits upon them.
///
/// An item belongs to the page that lists it first; other pages that list it leave it out for as long as
/// that one is held. An item that was inserted or moved here is *placed*: it lies in the page where it was
/// put, behind the item it was put behind.
struct ListRows<Item: Sendable, ID: Hashable & Sendable>: Sendable {
  typealias Chunk = ListItems<Item>.Chunk

  /// A page, each of its items once, and what is shown of it.
  private struct PageRows: Sendable {
    var stamp: PageStamp
    var listed: [Item]
    var chunk: Chunk
  }

  /// Where a placed item was put: behind an item, or in front of all others of a page.
  private struct Spot: Sendable {
    var page: Int?
    var predecessor: ID?
  }

  /// One edit. Those of an item act one upon the other, in order.
  private struct Edit: Sendable {
    enum Kind: Sendable {
      case insert, remove, move
      case update(@Sendable (Item) -> Item)
    }

    var number: Int
    var kind: Kind
    /// Where the item was placed before.
    var spot: Spot?
    /// How many loads had begun when the server agreed.
    var confirmed: Int?

    var isInsert: Bool { if case .insert = kind { true } else { false } }
    var isMove: Bool { if case .move = kind { true } else { false } }
    var isRemove: Bool { if case .remove = kind { true } else { false } }
    var isUpdate: Bool { if case .update = kind { true } else { false } }
  }

  private let id: @Sendable (Item) -> ID
  private var generation = 0
  private var first = 0
  private var pages: [PageRows] = []
  /// The page that an item belongs to, and those that list it, too.
  private var home: [ID: Int] = [:]
  private var others: [ID: [Int]] = [:]
  private var edits: [ID: [Edit]] = [:]
  private var edited: [Int: ID] = [:]
  private var numbers = 0
  /// What placed items are without updates, and the pages they lie in.
  private var placed: [ID: Item] = [:]
  private var spots: [ID: Int] = [:]
  /// Placed items of pages that a window dropped, and of pages that have not come yet.
  private var parked: [Int: [(id: ID, predecessor: ID?)]] = [:]
  private var strays: [(id: ID, predecessor: ID?)] = []
  private(set) var items = ListItems<Item>()
  /// Whether the first page held is the first of the listing, as far as is known.
  private var isAtStart = true

  init(id: @escaping @Sendable (Item) -> ID) { self.id = id }

  /// How many edits the server has not agreed to.
  var pending: Int { edits.values.reduce(0) { $0 + $1.count { $0.confirmed == nil } } }

  // MARK: Pages

  /// Takes what a list holds now.
  mutating func apply(_ list: ListSnapshot<Item>, dropsEdits: Bool) {
    let content = list.content
    let held = content.first..<content.first + list.pages.count
    let isMoved = range != held || content.generation != generation
    if content.generation != generation {
      let isReload = list.pagesBefore == 0
      startOver(run: content.run, dropsEdits: dropsEdits && isReload)
      generation = content.generation
      first = content.first
    }
    var dirty: Set<Int> = []
    while let last = pages.last, !held.contains(range.upperBound - 1) {
      leave(range.upperBound - 1, last, &dirty)
      pages.removeLast()
    }
    while let page = pages.first, first < held.lowerBound {
      leave(first, page, &dirty)
      pages.removeFirst()
      first += 1
    }
    if pages.isEmpty { first = held.lowerBound }
    while first > held.lowerBound {
      let index = first - 1 - held.lowerBound
      let rows = enter(first - 1, list.pages[index].items, content.stamps[index], &dirty)
      pages.insert(rows, at: 0)
      first -= 1
    }
    for (index, stamp) in content.stamps.enumerated() {
      let ordinal = first + index
      if index == pages.count {
        pages.append(enter(ordinal, list.pages[index].items, stamp, &dirty))
      } else if pages[index].stamp != stamp {
        leave(ordinal, pages[index], &dirty)
        pages[index] = enter(ordinal, list.pages[index].items, stamp, &dirty)
      }
    }
    isAtStart = list.pagesBefore == 0
    guard isMoved || !dirty.isEmpty else { return }
    for ordinal in dirty where range.contains(ordinal) { build(ordinal) }
    show()
  }

  private var range: Range<Int> { first..<first + pages.count }

  /// A page comes: its items belong to it, unless another page that is held lists them.
  private mutating func enter(
    _ ordinal: Int, _ items: [Item], _ stamp: PageStamp, _ dirty: inout Set<Int>
  ) -> PageRows {
    var repeated: Set<Int> = []
    for (index, item) in items.enumerated() {
      let id = id(item)
      if let page = home[id] {
        if page == ordinal {
          repeated.insert(index)
        } else {
          others[id, default: []].append(ordinal)
        }
      } else {
        home[id] = ordinal
        if !edits.isEmpty { endInsert(id, &dirty) }
        if placed[id] != nil {
          placed[id] = item
          spots[id].map { _ = dirty.insert($0) }
        }
      }
    }
    dirty.insert(ordinal)
    let listed =
      repeated.isEmpty
      ? items : items.enumerated().filter { !repeated.contains($0.offset) }.map(\.element)
    return PageRows(stamp: stamp, listed: listed, chunk: Chunk([]))
  }

  /// A page goes: another one that lists its items has them then, and what was placed there waits.
  private mutating func leave(_ ordinal: Int, _ page: PageRows, _ dirty: inout Set<Int>) {
    for item in page.listed {
      let id = id(item)
      if home[id] == ordinal {
        home[id] = nil
        guard var pages = others[id] else { continue }
        let heir = pages.removeFirst()
        others[id] = pages.isEmpty ? nil : pages
        home[id] = heir
        dirty.insert(heir)
      } else if let pages = others[id]?.filter({ $0 != ordinal }) {
        others[id] = pages.isEmpty ? nil : pages
      }
    }
    let waiting = placements(in: page.chunk)
    if !waiting.isEmpty { parked[ordinal] = waiting + (parked[ordinal] ?? []) }
  }

  /// The placed items of a page, in order.
  private func placements(in chunk: Chunk) -> [(id: ID, predecessor: ID?)] {
    guard !spots.isEmpty else { return [] }
    var found: [(id: ID, predecessor: ID?)] = []
    var last: ID?
    for item in chunk.items {
      let id = id(item)
      if spots[id] != nil { found.append((id, last)) }
      last = id
    }
    return found
  }

  /// Makes anew what is shown of a page.
  private mutating func build(_ ordinal: Int) {
    let page = pages[ordinal - first]
    let waiting = placements(in: page.chunk) + (parked.removeValue(forKey: ordinal) ?? [])
    var items = page.listed
    if !edits.isEmpty || !others.isEmpty {
      items = items.compactMap { item in
        let id = id(item)
        return home[id] == ordinal && placed[id] == nil ? value(of: id, item) : nil
      }
    }
    for (id, predecessor) in waiting where spots[id] == ordinal {
      put(id, behind: predecessor, &items)
    }
    pages[ordinal - first].chunk = Chunk(items)
  }

  private func put(_ id: ID, behind predecessor: ID?, _ items: inout [Item]) {
    guard let base = placed[id], let item = value(of: id, base) else { return }
    let index = predecessor.flatMap { before in items.firstIndex { self.id($0) == before } }
    items.insert(item, at: index.map { $0 + 1 } ?? 0)
  }

  /// What an item is with its edits; nil where it is removed.
  private func value(of id: ID, _ item: Item) -> Item? {
    guard let edits = edits[id] else { return item }
    var item = item
    for edit in edits {
      switch edit.kind {
      case .remove: return nil
      case .update(let change): item = change(item)
      case .insert, .move: break
      }
    }
    return item
  }

  /// The listing begins anew: what the server has agreed to, it lists by now.
  private mutating func startOver(run: Int, dropsEdits: Bool) {
    var order: [(id: ID, predecessor: ID?)] = []
    var last: ID?
    for page in pages {
      order += placements(in: page.chunk).map { ($0.id, $0.predecessor ?? last) }
      last = page.chunk.items.last.map(id) ?? last
    }
    order += parked.sorted { $0.key < $1.key }.flatMap(\.value) + strays
    (pages, home, others, spots, parked, strays) = ([], [:], [:], [:], [:], [])
    for (id, own) in edits {
      let left = dropsEdits ? [] : own.filter { $0.confirmed.map { $0 >= run } ?? true }
      for edit in own where !left.contains(where: { $0.number == edit.number }) {
        edited[edit.number] = nil
      }
      // Pages are counted anew.
      edits[id] =
        left.isEmpty
        ? nil
        : left.map { edit in
          var edit = edit
          edit.spot?.page = nil
          return edit
        }
      let isPlaced = left.contains { $0.isInsert || $0.isMove }
      if !isPlaced { placed[id] = nil }
    }
    strays = order.filter { placed[$0.id] != nil }
    // What was removed, and is not any more, lies nowhere.
    for id in edited.sorted(by: { $0.key < $1.key }).map(\.value) {
      guard let item = placed[id], value(of: id, item) != nil,
        !strays.contains(where: { $0.id == id })
      else { continue }
      strays.append((id, nil))
    }
  }

  /// Puts what has waited for a page behind its item, or in front of the listing where that is gone.
  private mutating func placeStrays() {
    let waiting = strays
    strays = []
    var front: ID?
    for (id, predecessor) in waiting {
      if let predecessor, let ordinal = page(showing: predecessor) {
        place(id, Spot(page: ordinal, predecessor: predecessor))
        if predecessor == front { front = id }
      } else if isAtStart {
        place(id, Spot(page: first, predecessor: front))
        front = id
      } else {
        strays.append((id, predecessor))
      }
    }
  }

  // MARK: Finding

  /// The page held in which an item is shown.
  private func page(showing id: ID) -> Int? {
    guard let page = spots[id] ?? (placed[id] == nil ? home[id] : nil), range.contains(page),
      offset(of: id, in: page) != nil
    else { return nil }
    return page
  }

  private func offset(of id: ID, in page: Int) -> Int? {
    pages[page - first].chunk.items.firstIndex { self.id($0) == id }
  }

  /// The number of an item that is shown.
  func index(of id: ID) -> Int? {
    if pages.isEmpty { return items.firstIndex { self.id($0) == id } }
    guard let page = page(showing: id), let offset = offset(of: id, in: page) else { return nil }
    return items.starts[page - first] + offset
  }

  // MARK: Editing

  private mutating func note(_ kind: Edit.Kind, _ id: ID, spot: Spot? = nil) -> Int {
    numbers += 1
    edits[id, default: []].append(Edit(number: numbers, kind: kind, spot: spot))
    edited[numbers] = id
    return numbers
  }

  /// Puts a new item behind another, or in front of all. Nil where there is one with its identity.
  mutating func insert(_ item: Item, behind predecessor: ID?) -> Int? {
    let id = id(item)
    guard home[id] == nil, placed[id] == nil else { return nil }
    placed[id] = item
    let number = note(.insert, id)
    place(id, spot(behind: predecessor))
    show()
    return number
  }

  mutating func update(_ id: ID, _ change: @escaping @Sendable (Item) -> Item) -> Int? {
    guard let page = page(showing: id) else { return updateStray(id, change) }
    let number = note(.update(change), id)
    replace(id, in: page, change)
    return number
  }

  private mutating func updateStray(_ id: ID, _ change: @escaping @Sendable (Item) -> Item) -> Int?
  {
    guard placed[id] != nil, index(of: id) != nil else { return nil }
    let number = note(.update(change), id)
    show()
    return number
  }

  /// Changes one item where it is; nothing else is touched.
  private mutating func replace(_ id: ID, in page: Int, _ change: (Item) -> Item) {
    guard let offset = offset(of: id, in: page) else { return }
    var items = pages[page - first].chunk.items
    items[offset] = change(items[offset])
    let chunk = Chunk(items)
    pages[page - first].chunk = chunk
    self.items = ListItems(self.items, replacing: page - first, by: chunk)
  }

  mutating func remove(_ id: ID) -> Int? {
    guard index(of: id) != nil else { return nil }
    let spot = placed[id] == nil ? nil : takeAway(id)
    let number = note(.remove, id, spot: spot)
    if spot == nil, let page = home[id], range.contains(page) { cut(id, from: page) }
    show()
    return number
  }

  mutating func move(_ id: ID, behind predecessor: ID?) -> Int? {
    guard id != predecessor, let index = index(of: id) else { return nil }
    let item = items[index]
    let spot = placed[id] == nil ? nil : takeAway(id)
    if spot == nil {
      if let page = home[id] { cut(id, from: page) }
      // Its updates act upon it wherever it is.
      placed[id] = listed(id) ?? item
    }
    let number = note(.move, id, spot: spot)
    place(id, self.spot(behind: predecessor))
    show()
    return number
  }

  /// An item as its page lists it.
  private func listed(_ id: ID) -> Item? {
    guard let page = home[id], range.contains(page) else { return nil }
    return pages[page - first].listed.first { self.id($0) == id }
  }

  private func spot(behind predecessor: ID?) -> Spot {
    guard let predecessor else { return Spot(page: pages.isEmpty ? nil : first) }
    return Spot(page: page(showing: predecessor), predecessor: predecessor)
  }

  /// Puts a placed item into the page held there, or lets it wait.
  private mutating func place(_ id: ID, _ spot: Spot) {
    guard let page = spot.page else {
      let index = strays.firstIndex { $0.id == spot.predecessor }.map { $0 + 1 } ?? 0
      return strays.insert((id, spot.predecessor), at: index)
    }
    spots[id] = page
    guard range.contains(page) else {
      parked[page, default: []].append((id, spot.predecessor))
      return
    }
    var items = pages[page - first].chunk.items
    put(id, behind: spot.predecessor, &items)
    pages[page - first].chunk = Chunk(items)
  }

  /// Takes a placed item from where it lies. Returns where that was.
  private mutating func takeAway(_ id: ID) -> Spot {
    guard let page = spots.removeValue(forKey: id) else {
      let index = strays.firstIndex { $0.id == id }
      return Spot(page: nil, predecessor: index.flatMap { strays.remove(at: $0).predecessor })
    }
    guard range.contains(page) else {
      let index = parked[page]?.firstIndex { $0.id == id }
      return Spot(
        page: page, predecessor: index.flatMap { parked[page]?.remove(at: $0).predecessor })
    }
    let offset = offset(of: id, in: page) ?? 0
    let before = offset > 0 ? self.id(pages[page - first].chunk.items[offset - 1]) : nil
    cut(id, from: page)
    return Spot(page: page, predecessor: before)
  }

  private mutating func cut(_ id: ID, from page: Int) {
    guard range.contains(page), let offset = offset(of: id, in: page) else { return }
    var items = pages[page - first].chunk.items
    items.remove(at: offset)
    pages[page - first].chunk = Chunk(items)
  }

  // MARK: What becomes of edits

  /// Takes an edit back. False where it is over: taken back, dropped, or listed by the server.
  mutating func undo(_ number: Int) -> Bool {
    guard let id = edited.removeValue(forKey: number),
      let index = edits[id]?.firstIndex(where: { $0.number == number }),
      let edit = edits[id]?.remove(at: index)
    else { return false }
    if edits[id]?.isEmpty == true { edits[id] = nil }
    switch edit.kind {
    case .update: refresh(id)
    case .remove:
      if placed[id] == nil { refresh(id) } else { lay(id, edit.spot ?? Spot()) }
    case .insert:
      _ = takeAway(id)
      forget(id)
    case .move:
      undoMove(id, edit)
    }
    show()
    return true
  }

  private mutating func undoMove(_ id: ID, _ edit: Edit) {
    let isPlaced = edits[id]?.contains { $0.isInsert || $0.isMove } ?? false
    if let next = edits[id]?.firstIndex(where: {
      $0.number > edit.number && ($0.isMove || $0.isRemove)
    }) {
      // It is where a later edit has put it, and comes from where this one found it.
      edits[id]?[next].spot = edit.spot
      if !isPlaced { placed[id] = nil }
      return
    }
    _ = takeAway(id)
    if let spot = edit.spot, isPlaced {
      lay(id, spot)
    } else {
      placed[id] = nil
      refresh(id)
    }
  }

  /// Puts a placed item there, once it is not removed any more: what is removed lies nowhere.
  private mutating func lay(_ id: ID, _ spot: Spot) {
    if let removal = edits[id]?.lastIndex(where: \.isRemove) {
      edits[id]?[removal].spot = spot
    } else {
      place(id, spot)
    }
  }

  /// No edit of an item is left.
  private mutating func forget(_ id: ID) {
    placed[id] = nil
    for edit in edits.removeValue(forKey: id) ?? [] { edited[edit.number] = nil }
  }

  /// Shows an item as its edits say now.
  private mutating func refresh(_ id: ID) {
    if let page = spots[id] ?? home[id], range.contains(page) { build(page) }
  }

  /// The server lists what was inserted here: it is the server's now, in the server's place.
  private mutating func endInsert(_ id: ID, _ dirty: inout Set<Int>) {
    guard let own = edits[id], let insert = own.first(where: \.isInsert) else { return }
    if let page = takeAway(id).page { dirty.insert(page) }
    placed[id] = nil
    edited[insert.number] = nil
    // It was placed by itself: where it was put later counts no more.
    for edit in own where edit.isMove { edited[edit.number] = nil }
    let left = own.filter { !$0.isInsert && !$0.isMove }
    edits[id] = left.isEmpty ? nil : left
  }

  /// The server has agreed to an edit, with `item` where it says what it has made of it; `loads` loads had
  /// begun by then.
  mutating func confirm(_ number: Int, as item: Item?, loads: Int) -> Bool {
    guard let id = edited[number],
      let index = edits[id]?.firstIndex(where: { $0.number == number })
    else { return false }
    edits[id]?[index].confirmed = loads
    guard let item else { return true }
    if self.id(item) == id {
      if edits[id]?[index].isInsert == true { placed[id] = item }
      if edits[id]?[index].isUpdate == true { edits[id]?[index].kind = .update { _ in item } }
      refresh(id)
    } else if placed[id] != nil {
      rename(id, item)
    }
    show()
    return true
  }

  /// An inserted item has got its identity from the server.
  private mutating func rename(_ id: ID, _ item: Item) {
    let own = edits.removeValue(forKey: id) ?? []
    let (removal, name) = (own.last(where: \.isRemove), self.id(item))
    let spot = removal.map { $0.spot ?? Spot() } ?? takeAway(id)
    placed[id] = nil
    // The server may list it by now.
    if home[name] != nil || placed[name] != nil {
      for edit in own { edited[edit.number] = nil }
      return
    }
    edits[name] = ((edits[name] ?? []) + own).sorted { $0.number < $1.number }
    for edit in own { edited[edit.number] = name }
    placed[name] = item
    lay(name, spot)
  }

  private mutating func show() {
    if !pages.isEmpty {
      if !strays.isEmpty { placeStrays() }
      return items = ListItems(pages.map(\.chunk))
    }
    let loose = strays.compactMap { stray in placed[stray.id].flatMap { value(of: stray.id, $0) } }
    items = ListItems(loose.isEmpty ? [] : [Chunk(loose)])
  }
}
