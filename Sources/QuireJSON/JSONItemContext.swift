import QuireCore
import QuirePagination

/// The state that the decoders of one page share: the index, the settings, and the keys that lead
/// to the value being decoded. Used by one task at a time.
final class JSONItemContext {
  let document: JSONDocument
  let options: JSONDecodingOptions
  let userInfo: [CodingUserInfoKey: Any]
  /// A pointer to the page's bytes; `tape` points to its index.
  // SAFETY: the pointers are lent by `document` while an item is decoded (`withPagePointers`), and
  // point to a copy when a context is still referenced after that (`detachIfKept`). They are stored
  // with the item's context, which every other context retains.
  @inline(__always)
  var bytes: UnsafePointer<UInt8> { page.pointee.bytes }
  @inline(__always)
  var tape: UnsafePointer<UInt64> { page.pointee.tape }
  private let page: UnsafeMutablePointer<JSONPagePointers>
  private let ownsPage: Bool
  /// The mutable state, outside the object: each access to a stored property of a class is checked
  /// for exclusivity, which costs more than the access.
  private let state: UnsafeMutablePointer<State>

  private struct State {
    /// The node where coding paths start: the item, or the value of a nested context.
    var root = 0
    /// Returns the keys from the item to the value within it that this context decodes. A closure,
    /// because the path is rarely read, and a list may have a million such values.
    var above: (() -> [any CodingKey])?
    /// The keys to the value being decoded, which follow those of `above`.
    var path: [Step] = []
    /// The number of the last step. A decoder that outlived its value has an older number.
    var serial: UInt32 = 0
    /// The node of the number that did not fit its type: `JSONDecoder`'s error has no path to it.
    var unfitNumber: Int?
    /// The names of the objects being read.
    var table = JSONMemberTable()
    /// The members of objects with many members or a key strategy, by the objects' nodes.
    var hashed: [Int: [String: Int]] = [:]
    /// The keys of names that the strategy converts.
    var convertedNames: [String: String] = [:]
    /// Whether an item is being decoded; the context is settled after it.
    var isLent = false
    var containers = JSONKeyedContainers()
    /// The types decoded so far.
    var types = JSONKnownTypes()
  }

  /// The number of steps to `root` in the context of a nested container or a superclass; otherwise
  /// 0.
  private let rootDepth: Int
  /// The number of steps to the decoder that was asked for the nested container.
  private let parentDepth: Int
  /// The context of the item, which collects `unfitNumber`; nil in that context itself.
  private let itemContext: JSONItemContext?

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
    (rootDepth, parentDepth, itemContext) = (0, 0, nil)
  }

  /// Creates a context for one value within an item; `above` returns the keys that lead to it.
  convenience init(
    _ document: JSONDocument, _ options: JSONDecodingOptions, item: Int,
    above: @escaping () -> [any CodingKey]
  ) {
    self.init(document, options)
    state.pointee.root = item
    state.pointee.above = above
  }

  /// Decodes the value within an item for which this context was created.
  func decode<Value: Decodable>(_ type: Value.Type, at node: Int) throws -> Value {
    try withPagePointers { try decode(type, at: node, in: .root) }
  }

  /// Calls `body` while `document` lends its pointers.
  @inline(__always)
  private func withPagePointers<Result>(_ body: () throws -> Result) throws -> Result {
    try document.index.withPointers { bytes, tape in
      page.pointee.point(to: bytes, tape)
      state.pointee.isLent = true
      defer {
        page.pointee.endLoan()
        state.pointee.isLent = false
      }
      return try body()
    }
  }

  /// Copies the page for a decoder that a type kept beyond its item. To be called after each item.
  @inline(__always)
  static func detachIfKept(_ context: inout JSONItemContext) {
    context.state.pointee.containers.settle(context)
    guard !isKnownUniquelyReferenced(&context) else { return }
    context.page.pointee.copyPage(of: context.document.index)
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
      page.pointee.copyPage(of: document.index)
    } else {
      page = parent.page
    }
    state = .allocate(capacity: 1)
    state.initialize(to: State(root: root ?? 0, path: path.map { Step(key: $0, serial: 0) }))
    (rootDepth, parentDepth, itemContext) = (path.count, outer, parent.itemContext ?? parent)
  }

  /// Decodes the item at a node, or a value outside the items.
  func decode<Item: Decodable>(_ type: Item.Type, item node: Int) throws -> Item {
    state.pointee.root = node
    state.pointee.unfitNumber = nil
    state.pointee.path.removeAll(keepingCapacity: true)
    state.pointee.table.removeAll()
    if !state.pointee.hashed.isEmpty { state.pointee.hashed.removeAll() }
    return try withPagePointers { try decode(type, at: node, in: .root) }
  }

  var unfitNumber: Int? { state.pointee.unfitNumber }

  func note(unfitNumber node: Int) { (itemContext ?? self).state.pointee.unfitNumber = node }

  @inline(__always)
  var table: JSONMemberTable {
    get { state.pointee.table }
    _modify { yield &state.pointee.table }
  }

  var hashed: [Int: [String: Int]] {
    get { state.pointee.hashed }
    _modify { yield &state.pointee.hashed }
  }

  var convertedNames: [String: String] {
    get { state.pointee.convertedNames }
    _modify { yield &state.pointee.convertedNames }
  }

  /// Returns a container for the object at a node, reusing one that is free.
  func container<Key: CodingKey>(
    keyedBy type: Key.Type, of node: Int, _ place: JSONPlace
  ) -> KeyedDecodingContainer<Key> {
    let object = object(at: node, place)
    if let container = state.pointee.containers.take(type, for: object) { return container }
    return state.pointee.containers.make(
      type, of: object, self, isSettled: itemContext == nil && state.pointee.isLent)
  }

  @inline(__always)
  var types: JSONKnownTypes {
    get { state.pointee.types }
    _modify { yield &state.pointee.types }
  }

  @inline(__always)
  func word(at node: Int) -> JSONWord { JSONWord(bits: tape[node]) }

  // MARK: Going down

  /// The most containers that an item may nest, as in `JSONDecoder`. The default of
  /// `DecodingLimits.depth` is lower.
  static let deepest = 512

  private func isCurrent(_ place: JSONPlace) -> Bool {
    place.depth <= state.pointee.path.count
      && (place.depth <= rootDepth
        || state.pointee.path[place.depth - 1].serial & JSONPlace.mask == place.serial)
  }

  /// Calls `body` with a decoder for the value under `key` at `place`.
  @inline(__always)
  func within<Result>(
    _ node: Int, _ place: JSONPlace, _ key: some CodingKey,
    _ body: (JSONValueDecoder) throws -> Result
  ) throws -> Result {
    guard state.pointee.path.count == place.depth, isCurrent(place) else {
      return try withDetachedPath(node, codingPath(of: place, node: node) + [key], body)
    }
    guard state.pointee.path.count < Self.deepest else { throw DecodingError.tooDeep }
    state.pointee.serial &+= 1
    state.pointee.path.append(Step(key: key, serial: state.pointee.serial))
    defer { state.pointee.path.removeLast() }
    return try body(
      JSONValueDecoder(
        self, node, JSONPlace(depth: state.pointee.path.count, serial: state.pointee.serial)))
  }

  /// Calls `body` with a decoder for the value at `place`.
  @inline(__always)
  func within<Result>(
    _ node: Int, _ place: JSONPlace, _ body: (JSONValueDecoder) throws -> Result
  ) throws -> Result {
    guard state.pointee.path.count == place.depth, isCurrent(place) else {
      return try withDetachedPath(node, codingPath(of: place, node: node), body)
    }
    return try body(JSONValueDecoder(self, node, place))
  }

  /// Calls `body` with a decoder outside the current path, for a container that is used while
  /// another value is being decoded.
  private func withDetachedPath<Result>(
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

  /// Returns a decoder with its own context for the value under `key` at `place`. Without a node
  /// the value is missing, and reads as null.
  func decoder(
    _ node: Int?, _ place: JSONPlace, _ key: some CodingKey, isNested: Bool = false
  ) -> JSONValueDecoder {
    let keys = codingPath(of: place, node: node ?? state.pointee.root) + [key]
    let outer = state.pointee.path.count == rootDepth ? parentDepth : state.pointee.path.count
    let context = JSONItemContext(
      root: node, path: keys, outer: isNested ? outer : keys.count, self)
    return JSONValueDecoder(context, node ?? 0, JSONPlace(depth: keys.count, serial: 0))
  }

  // MARK: Paths

  /// Returns the keys that lead to a place. For a decoder that outlived its value they are found
  /// again in the page, with the names of the page.
  func codingPath(of place: JSONPlace, node: Int) -> [any CodingKey] {
    guard isCurrent(place) else { return document.keys(to: node, from: state.pointee.root) }
    let keys = state.pointee.path.prefix(place.depth).map(\.key)
    return state.pointee.above.map { $0() + keys } ?? keys
  }

  /// The keys that lead to the decoder in use. A nested container has no decoder, so its path is
  /// the path of the decoder it came from.
  var decoderPath: [any CodingKey] {
    state.pointee.path.prefix(
      state.pointee.path.count == rootDepth ? parentDepth : state.pointee.path.count
    ).map(\.key)
  }
}

/// The place of a decoder in the current path: its depth and the number of its last step, in 32
/// bits.
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
  /// A step on the path to a value: an element, or the name of a member.
  struct Step {
    let container: Int
    var child: Int
    var index = 0
  }

  /// Returns the names and indices that lead from `ancestor` to the value at `node`.
  func keys(to node: Int, from ancestor: Int) -> [any CodingKey] {
    var way: [Step] = []
    return keys(to: node, from: ancestor, along: &way)
  }

  /// Returns the same, but starts from `way`, the steps to an earlier value, and replaces them by
  /// the steps to this one: asking for all values of a list, in order, takes the time of one pass
  /// over it.
  func keys(to node: Int, from ancestor: Int, along way: inout [Step]) -> [any CodingKey] {
    var keys: [any CodingKey] = []
    var place = ancestor
    while place < node, word(at: place).isContainer, node < next(after: place) {
      let isObject = word(at: place).kind == .object
      var step = Step(container: place, child: place + 2)
      let known = keys.count < way.count ? way[keys.count] : step
      if known.container == place, known.child <= node { step = known }
      // A member's value follows its name.
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
