import QuirePagination

/// An object whose members are looked up by key. It holds no references, so that copying it is
/// free.
struct JSONObject {
  fileprivate let number: UInt32
  let place: JSONPlace
  fileprivate let count: UInt32
  fileprivate let run: UInt32
  fileprivate let generation: UInt32
  fileprivate let names: Names

  /// Where a key is looked up.
  fileprivate enum Names: UInt8 {
    /// In the page, by bytes.
    case written
    /// In the table, which has signatures of all names, as `SnakeCase.convert` converts them.
    case converted
    /// In the table, but some names have no signature, because only `SnakeCase.key` can convert
    /// them.
    case partlyConverted
    /// In a dictionary: there are many members, or a custom strategy makes the keys.
    case hashed
  }

  /// The most members of an object whose names are not hashed.
  fileprivate static let most = 64

  var node: Int { Int(number) }
}

/// Looking up members.
extension JSONItemContext {
  /// Prepares an object for looking up its members.
  func object(at node: Int, _ place: JSONPlace) -> JSONObject {
    let count = word(at: node).length
    let run: Int
    let names: JSONObject.Names
    if count > JSONObject.most || options.hasCustomKeys {
      hashed[node] = hashedMembers(of: node, place)
      (run, names) = (0, .hashed)
    } else if options.takesNamesAsTheyAre {
      (run, names) = (table.reserveProgress(from: node + 2), .written)
    } else {
      (run, names) = enterConverted(node, count)
    }
    return JSONObject(
      number: UInt32(truncatingIfNeeded: node), place: place,
      count: UInt32(truncatingIfNeeded: count), run: UInt32(truncatingIfNeeded: run),
      generation: table.generation, names: names)
  }

  /// Enters the names into the table, as `convertFromSnakeCase` converts them.
  private func enterConverted(_ node: Int, _ count: Int) -> (run: Int, JSONObject.Names) {
    let run = table.reserve(names: count)
    var isPlain = true
    for (number, name) in document.names(of: node).enumerated() {
      let signature = withConverted(name) { JSONMemberTable.signature($0, $1) }
      isPlain = isPlain && signature != nil
      table.set(number, of: count, in: run, signature ?? 0, node: name)
    }
    return (run, isPlain ? .converted : .partlyConverted)
  }

  /// Calls `body` with a name as `convertFromSnakeCase` converts it; nil for a name that only
  /// `SnakeCase.key` can convert.
  @inline(__always)
  private func withConverted<Result>(
    _ name: Int, _ body: (UnsafePointer<UInt8>, Int) -> Result
  ) -> Result? {
    let word = word(at: name)
    guard word.isKind(.string) else { return nil }
    let name = UnsafeBufferPointer(start: bytes + word.offset, count: word.length)
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SnakeCase.longest) { key in
      guard let start = key.baseAddress else { return nil }
      return SnakeCase.convert(name, into: start).map { body(start, $0) }
    }
  }

  private func hashedMembers(of node: Int, _ place: JSONPlace) -> [String: Int] {
    let path = options.hasCustomKeys ? codingPath(of: place, node: node) : []
    var members: [String: Int] = [:]
    members.reserveCapacity(word(at: node).length)
    for name in document.names(of: node) {
      guard let text = try? document.text(at: name) else { continue }
      let key = options.keys.key(for: text, at: path[...])
      if members[key] == nil { members[key] = name + 1 }
    }
    return members
  }

  /// Returns the value of the first member with a key, nil if there is none. Keys are equal if they
  /// are equal strings, as in `JSONDecoder`.
  @inline(__always)
  func find(_ key: String, in object: JSONObject) -> Int? {
    guard object.names == .written, object.generation == table.generation else {
      return findOtherwise(key, in: object)
    }
    let found = key.utf8.withContiguousStorageIfAvailable { search($0, in: object) }
    guard let found, !found.needsTextComparison else {
      return findByText(key, in: object, before: found?.name)
    }
    return found.name < 0 ? nil : found.name + 1
  }

  /// Returns the first name with the bytes of the key; see `JSONNameProgress.find`.
  private func search(
    _ key: UnsafeBufferPointer<UInt8>, in object: JSONObject
  ) -> (name: Int, needsTextComparison: Bool) {
    guard let start = key.baseAddress else { return (-1, true) }
    let end = Int(tape[object.node + 1] >> 32)
    let found = table.progress(in: Int(object.run)).pointee.find(
      start, key.count, from: object.node + 2, to: end, in: bytes, tape)
    // A key that is not ASCII equals names of other bytes, by canonical equivalence.
    return found.name < 0 && !found.needsTextComparison ? (-1, key.contains { $0 >= 0x80 }) : found
  }

  @inline(never)
  private func findOtherwise(_ key: String, in object: JSONObject) -> Int? {
    guard object.generation == table.generation, object.names != .hashed else {
      return members(of: object)[key]
    }
    let found = key.utf8.withContiguousStorageIfAvailable { searchConverted($0, in: object) }
    guard let found, !found.needsTextComparison, object.names == .converted else {
      return findByText(key, in: object, before: found?.name)
    }
    return found.name < 0 ? nil : found.name + 1
  }

  /// Returns the first name that is converted to the bytes of the key.
  private func searchConverted(
    _ key: UnsafeBufferPointer<UInt8>, in object: JSONObject
  ) -> (name: Int, needsTextComparison: Bool) {
    guard let start = key.baseAddress else { return (-1, true) }
    let ones: UInt64 = 0x0101_0101_0101_0101
    let wanted = ones &* UInt64(JSONMemberTable.signature(start, key.count))
    let (count, run, table) = (Int(object.count), Int(object.run), table)
    var base = 0
    while base < count {
      let difference = table[run, base >> 3] ^ wanted
      // Has the high bit set of each byte that is equal, and perhaps of the bytes above an equal
      // one.
      var equal = (difference &- ones) & ~difference & (ones &* 0x80)
      while equal != 0 {
        let number = base + equal.trailingZeroBitCount >> 3
        guard number < count else { break }
        let name = table.node(number, of: count, in: run)
        if withConverted(name, { Self.equal($0, $1, start, key.count) }) == true {
          return (name, false)
        }
        equal &= equal &- 1
      }
      base += 8
    }
    return (-1, key.contains { $0 >= 0x80 })
  }

  @inline(__always)
  static func equal(
    _ one: UnsafePointer<UInt8>, _ length: Int, _ other: UnsafePointer<UInt8>, _ otherLength: Int
  ) -> Bool {
    guard length == otherLength else { return false }
    let (one, other) = (UnsafeRawPointer(one), UnsafeRawPointer(other))
    if length >= 8 {
      var place = 0
      while place < length - 8 {
        if !isEqual(one, other, at: place, as: UInt64.self) { return false }
        place += 8
      }
      return isEqual(one, other, at: length - 8, as: UInt64.self)
    }
    if length >= 4 {
      return isEqual(one, other, at: 0, as: UInt32.self)
        && isEqual(one, other, at: length - 4, as: UInt32.self)
    }
    if length >= 2 {
      return isEqual(one, other, at: 0, as: UInt16.self)
        && isEqual(one, other, at: length - 2, as: UInt16.self)
    }
    return length == 0 || isEqual(one, other, at: 0, as: UInt8.self)
  }

  @inline(__always)
  private static func isEqual<Word: FixedWidthInteger & BitwiseCopyable>(
    _ one: UnsafeRawPointer, _ other: UnsafeRawPointer, at place: Int, as type: Word.Type
  ) -> Bool {
    one.loadUnaligned(fromByteOffset: place, as: type)
      == other.loadUnaligned(fromByteOffset: place, as: type)
  }

  /// Finds a member by comparing strings. Compares only the names that bytes do not decide, which
  /// have escapes or are not ASCII, but all names if the key is not ASCII. `found` is the first
  /// match by bytes, negative or nil for none, which is returned unless another match comes before
  /// it.
  @inline(never)
  private func findByText(_ key: String, in object: JSONObject, before found: Int?) -> Int? {
    let isASCII = key.utf8.allSatisfy { $0 < 0x80 }
    for name in document.names(of: object.node) {
      if name == found { return name + 1 }
      if isASCII, isPlain(name) { continue }
      guard let text = try? document.text(at: name) else { continue }
      if options.keys.key(for: text, at: []) == key { return name + 1 }
    }
    return nil
  }

  private func isPlain(_ name: Int) -> Bool {
    guard options.takesNamesAsTheyAre else { return withConverted(name) { _, _ in true } ?? false }
    return word(at: name).isKind(.string)
  }

  /// Returns the members by key, of an object with many members or for a container that outlived its
  /// item.
  private func members(of object: JSONObject) -> [String: Int] {
    if object.generation == table.generation, let members = hashed[object.node] {
      return members
    }
    return hashedMembers(of: object.node, object.place)
  }

  /// Returns the keys of all members, each once, in the page's order.
  func keys(of object: JSONObject) -> [String] {
    if object.names == .hashed {
      return members(of: object).sorted { $0.value < $1.value }.map(\.key)
    }
    var seen = Set<String>(minimumCapacity: Int(object.count))
    return document.names(of: object.node).compactMap { name in
      guard let text = try? document.text(at: name) else { return nil }
      let key = options.keys.key(for: text, at: [])
      return seen.insert(key).inserted ? key : nil
    }
  }
}
