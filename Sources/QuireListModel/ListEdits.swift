/// The local edits of a list's items that are in force. Those of an item act one upon the other, in order.
struct ListEdits<Item: Sendable, ID: Hashable & Sendable>: Sendable {
  /// Where a placed item was put: behind an item, or in front of all others of a page.
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
    /// Where the item was placed before.
    var spot: Spot?

    var isRemove: Bool { if case .remove = kind { true } else { false } }

    /// Whether it puts the item somewhere.
    var isPlacing: Bool {
      switch kind {
      case .insert, .move: true
      case .remove, .update: false
      }
    }
  }

  private var edits: [ID: [Edit]] = [:]
  private var names: [Int: ID] = [:]
  /// How many loads had begun when the server agreed to an edit.
  private var agreed: [Int: Int] = [:]
  private var numbers = 0

  var isEmpty: Bool { edits.isEmpty }

  /// How many edits the server has not agreed to.
  var pending: Int { names.count - agreed.count }

  /// The items of all edits, in the order these were made.
  var items: [ID] { names.sorted { $0.key < $1.key }.map(\.value) }

  /// The edits of an item.
  subscript(id: ID) -> [Edit] {
    get { edits[id] ?? [] }
    set { edits[id] = newValue.isEmpty ? nil : newValue }
  }

  /// The item of an edit that is in force.
  func item(of number: Int) -> ID? { names[number] }

  /// What an item is with its edits; nil where it is removed.
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

  /// Takes an edit of an item. Returns its number.
  mutating func note(_ kind: Edit.Kind, _ id: ID, spot: Spot? = nil) -> Int {
    numbers += 1
    edits[id, default: []].append(Edit(number: numbers, kind: kind, spot: spot))
    names[numbers] = id
    return numbers
  }

  /// Takes an edit away. Nil where it is not in force.
  mutating func remove(_ number: Int) -> (id: ID, edit: Edit)? {
    guard let id = names[number], let edit = self[id].first(where: { $0.number == number })
    else { return nil }
    end(id) { $0.number == number }
    return (id, edit)
  }

  /// Ends those edits of an item.
  mutating func end(_ id: ID, _ isOver: (Edit) -> Bool = { _ in true }) {
    for edit in self[id] where isOver(edit) {
      names[edit.number] = nil
      agreed[edit.number] = nil
    }
    self[id].removeAll(where: isOver)
  }

  /// The server has agreed to an edit, by when so many loads had begun.
  mutating func agree(_ number: Int, loads: Int) { agreed[number] = loads }

  /// The listing begins anew with this load: what the server had agreed to before, it lists by now. Pages
  /// are counted anew.
  mutating func startOver(run: Int, dropsAll: Bool) {
    for id in Array(edits.keys) {
      end(id) { [agreed] in dropsAll || agreed[$0.number].map { $0 < run } ?? false }
      for index in self[id].indices { edits[id]?[index].spot?.page = nil }
    }
  }

  /// An item has another identity from now on. An identity has one history: its own edits go on upon it.
  mutating func rename(_ id: ID, as name: ID) {
    let own = edits.removeValue(forKey: id) ?? []
    self[name] = (self[name] + own).sorted { $0.number < $1.number }
    for edit in own { names[edit.number] = name }
  }
}
