import QuireCore
import QuirePagination

/// What the decoders of one page share: its index, the settings, and the keys that lead to what is being
/// decoded. Used by one task at a time.
final class JSONItemContext {
  let document: JSONDocument
  let options: JSONDecodingOptions
  let userInfo: [CodingUserInfoKey: Any]
  /// The page and its tape.
  // SAFETY: the pointers are lent by `document` while an item is decoded, and are those of a copy while
  // anything but its owner holds a context: see `lent` and `settle`. The place that they are kept at is the
  // main context's, which each of the others holds.
  @inline(__always)
  var bytes: UnsafePointer<UInt8> { page.pointee.bytes }
  @inline(__always)
  var tape: UnsafePointer<UInt64> { page.pointee.tape }
  private let page: UnsafeMutablePointer<JSONPagePointers>
  private let ownsPage: Bool
  /// What changes, apart from the object: fields of an object are guarded against overlapping access at
  /// each use, which costs more than the use.
  private let state: UnsafeMutablePointer<State>

  private struct State {
    /// What a path starts below: the item, or the value of a decoder of its own.
    var root = 0
    /// Makes the keys that lead to a value within an item. They are walked to only where they are asked for:
    /// a list may have a million of such values.
    var above: (() -> [any CodingKey])?
    /// The keys from the item to the value whose decoder is in use.
    var path: [Step] = []
    /// Numbers the steps, so that a decoder that outlives its value notices.
    var serial: UInt32 = 0
    /// The number that did not fit its type: `JSONDecoder`'s error has no path to it.
    var unfitNumber: Int?
    /// The names of the objects that are being read.
    var table = JSONMemberTable()
    /// The members of objects that have many, by their nodes.
    var hashed: [Int: [String: Int]] = [:]
    /// Whether an item is being decoded, after which the context is settled.
    var isLent = false
    var containers = JSONKeyedContainers()
    /// The types that were decoded.
    var types = JSONKnownTypes()
  }

  /// How many steps lead to `root`, in the context of a nested container or of a superclass.
  private let ownDepth: Int
  /// How many steps led to the decoder that the nested container was asked of.
  private let outerDepth: Int
  /// Where to note what no coding path says.
  private let main: JSONItemContext?

  private struct Step {
    let key: any CodingKey
    let serial: UInt32
  }

  init(_ document: JSONDocument, _ options: JSONDecodingOptions) {
    self.document = document
    self.options = options
    userInfo = options.userInfo
    page = .allocate(capacity: 1)
    page.initialize(to: JSONPagePointers())
    ownsPage = true
    state = .allocate(capacity: 1)
    state.initialize(to: State())
    (ownDepth, outerDepth, main) = (0, 0, nil)
  }

  /// A context for one value within an item, which the keys from `above` lead to.
  convenience init(
    _ document: JSONDocument, _ options: JSONDecodingOptions, item: Int,
    above: @escaping () -> [any CodingKey]
  ) {
    self.init(document, options)
    state.pointee.root = item
    state.pointee.above = above
  }

  /// The value that the keys of this context lead to.
  func decode<Value: Decodable>(_ type: Value.Type, at node: Int) throws -> Value {
    try lent { try decode(type, at: node, in: .root) }
  }

  /// Calls `body` while the page is lent.
  @inline(__always)
  private func lent<Result>(_ body: () throws -> Result) throws -> Result {
    try document.index.withPointers { bytes, tape in
      page.pointee.point(bytes, tape)
      state.pointee.isLent = true
      defer {
        page.pointee.giveBack()
        state.pointee.isLent = false
      }
      return try body()
    }
  }

  /// To be called after each item: where a type has kept its decoder, the page is kept for it.
  @inline(__always)
  static func settle(_ context: inout JSONItemContext) {
    context.state.pointee.containers.settle(context)
    guard !isKnownUniquelyReferenced(&context) else { return }
    context.page.pointee.keep(context.document.index)
    if let keys = context.state.pointee.above?() { context.state.pointee.above = { keys } }
  }

  deinit {
    if ownsPage {
      page.pointee.free()
      page.deinitialize(count: 1)
      page.deallocate()
    }
    state.pointee.table.free()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  private init(
    root: Int?, path: [any CodingKey], outer: Int, _ parent: JSONItemContext
  ) {
    document = root == nil ? .null : parent.document
    options = parent.options
    userInfo = parent.userInfo
    ownsPage = root == nil
    if root == nil {
      page = .allocate(capacity: 1)
      page.initialize(to: JSONPagePointers())
      page.pointee.keep(document.index)
    } else {
      page = parent.page
    }
    state = .allocate(capacity: 1)
    state.initialize(to: State(root: root ?? 0, path: path.map { Step(key: $0, serial: 0) }))
    (ownDepth, outerDepth, main) = (path.count, outer, parent.main ?? parent)
  }

  /// The item at a node, or a value beside the items.
  func decode<Item: Decodable>(_ type: Item.Type, item node: Int) throws -> Item {
    state.pointee.root = node
    state.pointee.unfitNumber = nil
    state.pointee.path.removeAll(keepingCapacity: true)
    state.pointee.table.removeAll()
    if !state.pointee.hashed.isEmpty { state.pointee.hashed.removeAll() }
    return try lent { try decode(type, at: node, in: .root) }
  }

  /// See `State`.
  var unfitNumber: Int? { state.pointee.unfitNumber }

  func note(unfitNumber node: Int) { (main ?? self).state.pointee.unfitNumber = node }

  /// The names of the objects that are being read.
  @inline(__always)
  var table: JSONMemberTable {
    get { state.pointee.table }
    _modify { yield &state.pointee.table }
  }

  /// The members of objects that have many, by their nodes.
  var hashed: [Int: [String: Int]] {
    get { state.pointee.hashed }
    _modify { yield &state.pointee.hashed }
  }

  /// A container of the object at a node.
  func container<Key: CodingKey>(
    keyedBy type: Key.Type, of node: Int, _ place: JSONPlace
  ) -> KeyedDecodingContainer<Key> {
    let object = object(at: node, place)
    if let container = state.pointee.containers.take(type, for: object) { return container }
    return state.pointee.containers.make(
      type, of: object, self, isSettled: main == nil && state.pointee.isLent)
  }

  /// See `State`.
  @inline(__always)
  var types: JSONKnownTypes {
    get { state.pointee.types }
    _modify { yield &state.pointee.types }
  }

  @inline(__always)
  func word(at node: Int) -> JSONWord { JSONWord(bits: tape[node]) }

  // MARK: Going down

  /// Deeper than any page of `DecodingLimits.depth`, unless that was raised: as deep as `JSONDecoder`
  /// goes.
  private static let deepest = 512

  private func isCurrent(_ place: JSONPlace) -> Bool {
    place.depth <= state.pointee.path.count
      && (place.depth <= ownDepth
        || state.pointee.path[place.depth - 1].serial & JSONPlace.mask == place.serial)
  }

  /// Calls `body` with a decoder of the value that `key` leads to from `place`.
  @inline(__always)
  func within<Result>(
    _ node: Int, _ place: JSONPlace, _ key: some CodingKey,
    _ body: (JSONValueDecoder) throws -> Result
  ) throws -> Result {
    guard state.pointee.path.count == place.depth, isCurrent(place) else {
      return try elsewhere(node, codingPath(of: place, node: node) + [key], body)
    }
    guard state.pointee.path.count < Self.deepest else { throw tooDeep }
    state.pointee.serial &+= 1
    state.pointee.path.append(Step(key: key, serial: state.pointee.serial))
    defer { state.pointee.path.removeLast() }
    return try body(
      JSONValueDecoder(
        self, node, JSONPlace(depth: state.pointee.path.count, serial: state.pointee.serial)))
  }

  /// Calls `body` with a decoder of the value at `place`.
  @inline(__always)
  func within<Result>(
    _ node: Int, _ place: JSONPlace, _ body: (JSONValueDecoder) throws -> Result
  ) throws -> Result {
    guard state.pointee.path.count == place.depth, isCurrent(place) else {
      return try elsewhere(node, codingPath(of: place, node: node), body)
    }
    return try body(JSONValueDecoder(self, node, place))
  }

  /// For a container that is used while another value is being decoded.
  private func elsewhere<Result>(
    _ node: Int, _ keys: [any CodingKey], _ body: (JSONValueDecoder) throws -> Result
  ) throws -> Result {
    let (path, above) = (state.pointee.path, state.pointee.above)
    defer {
      state.pointee.path = path
      state.pointee.above = above
    }
    state.pointee.above = nil
    state.pointee.serial &+= 1
    state.pointee.path = keys.map { Step(key: $0, serial: state.pointee.serial) }
    return try body(
      JSONValueDecoder(
        self, node, JSONPlace(depth: state.pointee.path.count, serial: state.pointee.serial)))
  }

  /// A context of its own for the value that a key leads to, with the decoder of that value; no node stands
  /// for a value that is missing.
  func decoder(
    _ node: Int?, _ place: JSONPlace, _ key: some CodingKey, isNested: Bool = false
  ) -> JSONValueDecoder {
    let keys = codingPath(of: place, node: node ?? state.pointee.root) + [key]
    let outer = state.pointee.path.count == ownDepth ? outerDepth : state.pointee.path.count
    let context = JSONItemContext(
      root: node, path: keys, outer: isNested ? outer : keys.count, self)
    return JSONValueDecoder(context, node ?? 0, JSONPlace(depth: keys.count, serial: 0))
  }

  // MARK: Paths

  /// The keys that lead to a place. Of a decoder that outlived its value, the names are those of the
  /// page.
  func codingPath(of place: JSONPlace, node: Int) -> [any CodingKey] {
    guard isCurrent(place) else { return document.keys(to: node, from: state.pointee.root) }
    let keys = state.pointee.path.prefix(place.depth).map(\.key)
    return state.pointee.above.map { $0() + keys } ?? keys
  }

  /// The keys that lead to the value whose decoder is in use; a nested container has none.
  var decoderPath: [any CodingKey] {
    state.pointee.path.prefix(
      state.pointee.path.count == ownDepth ? outerDepth : state.pointee.path.count
    ).map(\.key)
  }

  private var tooDeep: DecodingError {
    .dataCorrupted(
      .init(
        codingPath: [], debugDescription: "The item nests more than \(Self.deepest) containers."))
  }
}

/// How many keys lead to a decoder, and the last one's number.
struct JSONPlace {
  static let mask: UInt32 = 1 << 22 - 1
  private let bits: UInt32

  static let root = JSONPlace(depth: 0, serial: 0)

  @inline(__always)
  init(depth: Int, serial: UInt32) {
    bits = UInt32(min(depth, 1023)) << 22 | serial & Self.mask
  }

  @inline(__always)
  var depth: Int { Int(bits >> 22) }

  @inline(__always)
  var serial: UInt32 { bits & Self.mask }
}

extension JSONDocument {
  /// A child on the way to a value: an element, or the name of a member.
  struct Step {
    let container: Int
    var child: Int
    var index = 0
  }

  /// The names and numbers that lead from `ancestor` to the value at `node`.
  func keys(to node: Int, from ancestor: Int) -> [any CodingKey] {
    var way: [Step] = []
    return keys(to: node, from: ancestor, along: &way)
  }

  /// As above, and from the way to an earlier value on, which becomes the way to this one: all values of a
  /// list, in order, cost the time of one walk over it.
  func keys(to node: Int, from ancestor: Int, along way: inout [Step]) -> [any CodingKey] {
    var keys: [any CodingKey] = []
    var place = ancestor
    while place < node, word(at: place).isContainer, node < next(after: place) {
      let isObject = word(at: place).kind == .object
      var step = Step(container: place, child: place + 2)
      let known = keys.count < way.count ? way[keys.count] : step
      if known.container == place, known.child <= node { step = known }
      // The value of a name stands behind it.
      place = step.child + (isObject ? 1 : 0)
      while next(after: place) <= node {
        step.child = next(after: place)
        step.index += 1
        place = step.child + (isObject ? 1 : 0)
      }
      if keys.count < way.count { way[keys.count] = step } else { way.append(step) }
      if isObject {
        keys.append(JSONKey((try? text(at: step.child)) ?? "\u{FFFD}"))
      } else {
        keys.append(JSONIndexKey(step.index))
      }
    }
    return keys
  }
}
