/// The local edits in force, by item. The edits of one item apply in the order they were made.
struct ListEdits<Item: Sendable, ID: Hashable & Sendable>: Sendable {
  /// The place where an item was put: after a predecessor, or at the start of a page. A nil `page`
  /// is unknown yet.
  struct Spot: Sendable {
    var page: Int?
    var predecessor: ID?
  }

  struct Edit: Sendable {
    enum Kind: Sendable {
      case insert, remove, move
      case update(@Sendable (Item) -> Item)
    }

    var number: Int
    var kind: Kind
    /// The item's place before the edit.
    var spot: Spot?

    var isRemove: Bool { if case .remove = kind { true } else { false } }

    /// Whether the edit gives the item a place.
    var isPlacing: Bool {
      switch kind {
      case .insert, .move: true
      case .remove, .update: false
      }
    }
  }

  private var edits: [ID: [Edit]] = [:]
  private var names: [Int: ID] = [:]
  /// The number of loads that had begun when the server confirmed an edit, by the edit.
  private var agreed: [Int: Int] = [:]
  private var numbers = 0

  var isEmpty: Bool { edits.isEmpty }

  /// The number of edits that the server has not confirmed.
  var pending: Int { names.count - agreed.count }

  /// The identities of the items of all edits, in the order of the edits.
  var items: [ID] { names.sorted { $0.key < $1.key }.map(\.value) }

  /// The edits of an item.
  subscript(id: ID) -> [Edit] {
    get { edits[id] ?? [] }
    set { edits[id] = newValue.isEmpty ? nil : newValue }
  }

  /// Returns the identity of an edit's item; nil if the edit is not in force.
  func item(of number: Int) -> ID? { names[number] }

  /// Returns the item with its edits applied; nil if one of them removes it.
  func value(of id: ID, _ item: Item) -> Item? {
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

  /// Records an edit of an item, and returns its number.
  mutating func note(_ kind: Edit.Kind, _ id: ID, spot: Spot? = nil) -> Int {
    numbers += 1
    edits[id, default: []].append(Edit(number: numbers, kind: kind, spot: spot))
    names[numbers] = id
    return numbers
  }

  /// Removes an edit and returns it; nil if it is not in force.
  mutating func remove(_ number: Int) -> (id: ID, edit: Edit)? {
    guard let id = names[number], let edit = self[id].first(where: { $0.number == number })
    else { return nil }
    end(id) { $0.number == number }
    return (id, edit)
  }

  /// Ends the edits of an item that match.
  mutating func end(_ id: ID, _ isOver: (Edit) -> Bool = { _ in true }) {
    for edit in self[id] where isOver(edit) {
      names[edit.number] = nil
      agreed[edit.number] = nil
    }
    self[id].removeAll(where: isOver)
  }

  /// Records that the server confirmed an edit when `loads` loads had begun.
  mutating func agree(_ number: Int, loads: Int) { agreed[number] = loads }

  /// Starts over with the listing that the load `run` began. Edits that were confirmed before that
  /// load are over, because the server's listing has them; pages of the old listing are forgotten.
  mutating func startOver(run: Int, dropsAll: Bool) {
    for id in Array(edits.keys) {
      end(id) { [agreed] in dropsAll || agreed[$0.number].map { $0 < run } ?? false }
      for index in self[id].indices { edits[id]?[index].spot?.page = nil }
    }
  }

  /// Gives an item another identity. Edits of both identities apply together, in the order they
  /// were made.
  mutating func rename(_ id: ID, as name: ID) {
    let own = edits.removeValue(forKey: id) ?? []
    self[name] = (self[name] + own).sorted { $0.number < $1.number }
    for edit in own { names[edit.number] = name }
  }
}
