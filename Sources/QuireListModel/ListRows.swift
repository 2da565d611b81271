import QuireCore
import QuireLists

/// The items that a list shows: the items of the pages held, without duplicates, with local edits
/// applied.
///
/// An item belongs to the first page to list it; other pages leave it out as long as that page is
/// held. A *placed* item is one that was inserted or moved locally. It belongs to the page where it
/// was put, after its predecessor there.
struct ListRows<Item: Sendable, ID: Hashable & Sendable>: Sendable {
  typealias Chunk = ListItems<Item>.Chunk

  /// The items of a page, without duplicates.
  private struct PageRows: Sendable {
    var stamp: PageStamp
    var listed: [Item]
  }

  private typealias Spot = ListEdits<Item, ID>.Spot

  private let id: @Sendable (Item) -> ID
  private var generation = 0
  private var first = 0
  private var pages: [PageRows] = []
  /// The ordinal of the page that each item belongs to, and of the other pages that list it.
  private var home: [ID: Int] = [:]
  private var others: [ID: [Int]] = [:]
  private var edits = ListEdits<Item, ID>()
  /// The placed items without their updates, and the ordinals of the pages that they belong to.
  private var placed: [ID: Item] = [:]
  private var spots: [ID: Int] = [:]
  /// The placed items that belong to a dropped page, by its ordinal; and the placed items that
  /// belong to no page yet.
  private var parked: [Int: [(id: ID, predecessor: ID?)]] = [:]
  private var strays: [(id: ID, predecessor: ID?)] = []
  /// The items to show: one chunk for each page held. Without pages, the placed items that belong
  /// to no page yet.
  private(set) var items = ListItems<Item>()
  /// Whether the first page held is the first of the listing, as far as known.
  private var isAtStart = true

  init(id: @escaping @Sendable (Item) -> ID) { self.id = id }

  /// The number of edits that the server has not confirmed.
  var pending: Int { edits.pending }

  // MARK: Pages

  /// Updates the items to the pages that a list holds now.
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
    leavePages(outside: held, &dirty)
    enterPages(of: list, &dirty)
    isAtStart = list.pagesBefore == 0
    guard isMoved || pages.isEmpty || !dirty.isEmpty else { return }
    for ordinal in dirty where range.contains(ordinal) { build(ordinal) }
    show()
  }

  private mutating func leavePages(outside held: Range<Int>, _ dirty: inout Set<Int>) {
    while let last = pages.last, !held.contains(range.upperBound - 1) {
      leave(range.upperBound - 1, last, &dirty)
      pages.removeLast()
      items.removeLastChunk()
    }
    while let page = pages.first, first < held.lowerBound {
      leave(first, page, &dirty)
      pages.removeFirst()
      items.removeFirstChunk()
      first += 1
    }
    if pages.isEmpty {
      first = held.lowerBound
      items = ListItems()
    }
  }

  /// Adds new pages at either end, and replaces pages that were loaded again.
  private mutating func enterPages(of list: ListSnapshot<Item>, _ dirty: inout Set<Int>) {
    let content = list.content
    while first > content.first {
      let index = first - 1 - content.first
      let rows = enter(first - 1, list.pages[index].items, content.stamps[index], &dirty)
      pages.insert(rows, at: 0)
      first -= 1
      items.put(Chunk([]), at: first)
    }
    for (index, stamp) in content.stamps.enumerated() {
      let ordinal = first + index
      if index == pages.count {
        pages.append(enter(ordinal, list.pages[index].items, stamp, &dirty))
        items.put(Chunk([]), at: ordinal)
      } else if pages[index].stamp != stamp {
        leave(ordinal, pages[index], &dirty)
        items.put(Chunk([]), at: ordinal)
        pages[index] = enter(ordinal, list.pages[index].items, stamp, &dirty)
      }
    }
  }

  private var range: Range<Int> { first..<first + pages.count }

  /// Adds a page, to which its items belong unless another page held lists them.
  private mutating func enter(
    _ ordinal: Int, _ items: [Item], _ stamp: PageStamp, _ dirty: inout Set<Int>
  ) -> PageRows {
    var repeated: Set<Int> = []
    for (index, item) in items.enumerated() {
      let id = id(item)
      if let page = home[id] {
        if page == ordinal || others[id]?.contains(ordinal) == true {
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
    return PageRows(stamp: stamp, listed: listed)
  }

  /// Removes a page. Its items pass to the next page that lists them, and items placed in it are
  /// parked.
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
    let waiting = placements(in: ordinal)
    if !waiting.isEmpty { parked[ordinal] = waiting + (parked[ordinal] ?? []) }
  }

  /// Returns the placed items of a page in order, each with its predecessor.
  private func placements(in ordinal: Int) -> [(id: ID, predecessor: ID?)] {
    guard !spots.isEmpty else { return [] }
    var found: [(id: ID, predecessor: ID?)] = []
    var last: ID?
    for item in items.chunk(ordinal).items {
      let id = id(item)
      if spots[id] != nil { found.append((id, last)) }
      last = id
    }
    return found
  }

  /// Rebuilds the chunk of a page.
  private mutating func build(_ ordinal: Int) {
    let page = pages[ordinal - first]
    let waiting = placements(in: ordinal) + (parked.removeValue(forKey: ordinal) ?? [])
    var items = page.listed
    if !edits.isEmpty || !others.isEmpty {
      items = items.compactMap { item in
        let id = id(item)
        return home[id] == ordinal && placed[id] == nil ? edits.value(of: id, item) : nil
      }
    }
    for (id, predecessor) in waiting where spots[id] == ordinal {
      put(id, behind: predecessor, &items)
    }
    set(items, ordinal)
  }

  private func put(_ id: ID, behind predecessor: ID?, _ items: inout [Item]) {
    guard let base = placed[id], let item = edits.value(of: id, base) else { return }
    let index = predecessor.flatMap { offset(of: $0, in: items) }
    items.insert(item, at: index.map { $0 + 1 } ?? 0)
  }

  /// Replaces the chunk of a page.
  private mutating func set(_ items: [Item], _ ordinal: Int) {
    self.items.put(Chunk(items), at: ordinal)
  }

  /// Starts over with a new listing: confirmed edits are over, and placed items wait for the new
  /// pages.
  private mutating func startOver(run: Int, dropsEdits: Bool) {
    var order: [(id: ID, predecessor: ID?)] = []
    var last: ID?
    for ordinal in range {
      order += placements(in: ordinal).map { ($0.id, $0.predecessor ?? last) }
      last = items.chunk(ordinal).items.last.map(id) ?? last
    }
    order += parked.sorted { $0.key < $1.key }.flatMap(\.value) + strays
    (pages, home, others, spots, parked, strays) = ([], [:], [:], [:], [:], [])
    edits.startOver(run: run, dropsAll: dropsEdits)
    placed = placed.filter { edits[$0.key].contains(where: \.isPlacing) }
    strays = order.filter { placed[$0.id] != nil }
    // An item whose removal has ended has no place yet, so it waits for one.
    for id in edits.items {
      guard let item = placed[id], edits.value(of: id, item) != nil,
        !strays.contains(where: { $0.id == id })
      else { continue }
      strays.append((id, nil))
    }
  }

  /// Puts waiting items after their predecessors, or at the start of the listing if the predecessor
  /// is gone.
  private mutating func placeStrays() {
    let waiting = strays
    strays = []
    var front: ID?
    for (id, predecessor) in waiting {
      if let predecessor, let (page, _) = find(predecessor) {
        place(id, Spot(page: page, predecessor: predecessor))
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

  /// Returns the ordinal of the page that shows an item, and the item's index in it.
  private func find(_ id: ID) -> (page: Int, offset: Int)? {
    guard let page = spots[id] ?? (placed[id] == nil ? home[id] : nil), range.contains(page),
      let offset = offset(of: id, in: page)
    else { return nil }
    return (page, offset)
  }

  private func offset(of id: ID, in page: Int) -> Int? {
    offset(of: id, in: items.chunk(page).items)
  }

  private func offset(of id: ID, in items: [Item]) -> Int? {
    items.indices.first { self.id(items[$0]) == id }
  }

  /// Returns the index of an item; nil if it is not shown.
  func index(of id: ID) -> Int? {
    if pages.isEmpty { return items.firstIndex { self.id($0) == id } }
    return find(id).map { items.index.start(of: $0.page) + $0.offset }
  }

  // MARK: Editing

  /// Inserts a new item after another one, or at the start. Returns the number of the edit; nil if
  /// the item's identity is taken.
  mutating func insert(_ item: Item, behind predecessor: ID?) -> Int? {
    let id = id(item)
    guard home[id] == nil, placed[id] == nil else { return nil }
    placed[id] = item
    let number = edits.note(.insert, id)
    place(id, spot(behind: predecessor))
    show()
    return number
  }

  /// Changes an item in place; only its page is rebuilt. Returns the number of the edit; nil if the
  /// item is not shown.
  mutating func update(_ id: ID, _ change: @escaping @Sendable (Item) -> Item) -> Int? {
    let place = find(id)
    guard place != nil || placed[id] != nil && index(of: id) != nil else { return nil }
    let number = edits.note(.update(change), id)
    if let (page, offset) = place {
      var items = self.items.chunk(page).items
      items[offset] = change(items[offset])
      set(items, page)
    }
    show()
    return number
  }

  mutating func remove(_ id: ID) -> Int? {
    guard index(of: id) != nil else { return nil }
    let spot = placed[id] == nil ? nil : takeAway(id)
    let number = edits.note(.remove, id, spot: spot)
    if spot == nil, let page = home[id], range.contains(page) { cut(id, from: page) }
    show()
    return number
  }

  mutating func move(_ id: ID, behind predecessor: ID?) -> Int? {
    guard id != predecessor, let item = shown(id) else { return nil }
    let spot = placed[id] == nil ? nil : takeAway(id)
    if spot == nil {
      if let page = home[id] { cut(id, from: page) }
      // Stored without its updates, because they are applied again in its new place.
      placed[id] = edits[id].isEmpty ? item : listed(id) ?? item
    }
    let number = edits.note(.move, id, spot: spot)
    place(id, self.spot(behind: predecessor))
    show()
    return number
  }

  /// Returns an item with its edits applied; nil if it is not shown.
  private func shown(_ id: ID) -> Item? {
    if let (page, offset) = find(id) { return items.chunk(page).items[offset] }
    return index(of: id).map { items[$0] }
  }

  /// Returns an item as the server sent it; nil if no page held lists it.
  private func listed(_ id: ID) -> Item? {
    guard let page = home[id], range.contains(page) else { return nil }
    return pages[page - first].listed.first { self.id($0) == id }
  }

  private func spot(behind predecessor: ID?) -> Spot {
    guard let predecessor else { return Spot(page: pages.isEmpty ? nil : first) }
    return Spot(page: find(predecessor)?.page, predecessor: predecessor)
  }

  /// Puts a placed item into its page, or lets it wait for the page.
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
    var items = self.items.chunk(page).items
    put(id, behind: spot.predecessor, &items)
    set(items, page)
  }

  /// Removes a placed item from its place, and returns that place.
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
    let before = offset > 0 ? self.id(self.items.chunk(page).items[offset - 1]) : nil
    cut(id, from: page)
    return Spot(page: page, predecessor: before)
  }

  private mutating func cut(_ id: ID, from page: Int) {
    guard range.contains(page), let offset = offset(of: id, in: page) else { return }
    var items = self.items.chunk(page).items
    items.remove(at: offset)
    set(items, page)
  }

  // MARK: Ending edits

  /// Undoes an edit. Returns false if it is over: undone, dropped, or listed by the server.
  mutating func undo(_ number: Int) -> Bool {
    guard let (id, edit) = edits.remove(number) else { return false }
    switch edit.kind {
    case .update: refresh(id)
    case .remove:
      if placed[id] == nil { refresh(id) } else { lay(id, edit.spot ?? Spot()) }
    case .insert:
      _ = takeAway(id)
      placed[id] = nil
      edits.end(id)
    case .move:
      undoMove(id, edit)
    }
    show()
    return true
  }

  private mutating func undoMove(_ id: ID, _ edit: ListEdits<Item, ID>.Edit) {
    let isPlaced = edits[id].contains(where: \.isPlacing)
    if let next = edits[id].firstIndex(where: {
      $0.number > edit.number && ($0.isPlacing || $0.isRemove)
    }) {
      // A later edit moved the item away. Undoing the later edit must return the item to the place
      // that it had before this one.
      edits[id][next].spot = edit.spot
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

  /// Puts a placed item back into its place. If the item is removed, stores the place in the
  /// removal, for its undoing.
  private mutating func lay(_ id: ID, _ spot: Spot) {
    if let removal = edits[id].lastIndex(where: \.isRemove) {
      edits[id][removal].spot = spot
    } else {
      place(id, spot)
    }
  }

  /// Rebuilds the page of an item after its edits changed.
  private mutating func refresh(_ id: ID) {
    if let page = spots[id] ?? home[id], range.contains(page) { build(page) }
  }

  /// Ends the insertion of an item that the server lists now: the item is shown in the server's
  /// place.
  private mutating func endInsert(_ id: ID, _ dirty: inout Set<Int>) {
    let isInserted = edits[id].contains { if case .insert = $0.kind { true } else { false } }
    guard isInserted else { return }
    if let page = takeAway(id).page { dirty.insert(page) }
    placed[id] = nil
    // Later moves were relative to the local insertion, and end with it.
    edits.end(id, \.isPlacing)
  }

  /// Confirms an edit when `loads` loads had begun; `item` is the server's version, if it sent one.
  /// Returns false if the edit is over.
  mutating func confirm(_ number: Int, as item: Item?, loads: Int) -> Bool {
    guard let id = edits.item(of: number),
      let index = edits[id].firstIndex(where: { $0.number == number })
    else { return false }
    edits.agree(number, loads: loads)
    guard let item else { return true }
    if self.id(item) == id {
      switch edits[id][index].kind {
      case .insert: placed[id] = item
      case .update: edits[id][index].kind = .update { _ in item }
      case .remove, .move: break
      }
      refresh(id)
    } else if placed[id] != nil {
      rename(id, item)
    }
    show()
    return true
  }

  /// Replaces an inserted item by the server's version, which has another identity.
  private mutating func rename(_ id: ID, _ item: Item) {
    let (removal, name) = (edits[id].last(where: \.isRemove), self.id(item))
    let spot = removal.map { $0.spot ?? Spot() } ?? takeAway(id)
    placed[id] = nil
    // A load may have brought the server's version already.
    if home[name] != nil || placed[name] != nil { return edits.end(id) }
    edits.rename(id, as: name)
    placed[name] = item
    lay(name, spot)
  }

  /// Puts waiting items into their pages. Without pages, shows only the waiting items.
  private mutating func show() {
    if !pages.isEmpty {
      if !strays.isEmpty { placeStrays() }
      return
    }
    let loose = strays.compactMap { stray in
      placed[stray.id].flatMap { edits.value(of: stray.id, $0) }
    }
    items = ListItems(loose.isEmpty ? [] : [Chunk(loose)])
  }
}
