import QuirePagination

/// An object whose members are looked up by name; it holds nothing, so that copying it costs nothing.
struct JSONObject {
  fileprivate let number: UInt32
  let place: JSONPlace
  fileprivate let count: UInt32
  fileprivate let run: UInt32
  fileprivate let generation: UInt32
  fileprivate let names: Names

  /// How the names are kept.
  fileprivate enum Names: UInt8 {
    /// All plain ASCII, in the table.
    case plain
    /// In the table, but some of them are not plain ASCII, or a key strategy does more to them than
    /// change letters.
    case odd
    /// Hashed: there are many, or a custom strategy made the keys.
    case hashed
  }

  /// Beyond so many members, names are hashed.
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
    if count > JSONObject.most || !options.takesNamesAsTheyAre && !options.convertsSnakeCase {
      hashed[node] = hashedMembers(of: node, place)
      (run, names) = (0, .hashed)
    } else if options.takesNamesAsTheyAre {
      (run, names) = enter(node, count)
    } else {
      (run, names) = enterConverted(node, count)
    }
    return JSONObject(
      number: UInt32(truncatingIfNeeded: node), place: place,
      count: UInt32(truncatingIfNeeded: count), run: UInt32(truncatingIfNeeded: run),
      generation: table.generation, names: names)
  }

  /// Notes the names in the table.
  @inline(__always)
  private func enter(_ node: Int, _ count: Int) -> (run: Int, JSONObject.Names) {
    let run = table.reserve(names: count)
    let table = table
    var name = node + 2
    var isPlain = true
    for number in 0..<count {
      let word = JSONWord(bits: tape[name])
      isPlain = isPlain && word.isKind(.string)
      let signature = JSONMemberTable.signature(bytes + word.offset, word.length)
      table.set(number, of: count, in: run, signature, node: name)
      name = JSONWord(bits: tape[name + 1]).isContainer ? Int(tape[name + 2] >> 32) : name + 2
    }
    return (run, isPlain ? .plain : .odd)
  }

  /// Notes the names as `convertFromSnakeCase` changes them.
  private func enterConverted(_ node: Int, _ count: Int) -> (run: Int, JSONObject.Names) {
    let run = table.reserve(names: count)
    var isPlain = true
    for (number, name) in document.names(of: node).enumerated() {
      let signature = withConverted(name) { JSONMemberTable.signature($0, $1) }
      isPlain = isPlain && signature != nil
      table.set(number, of: count, in: run, signature ?? 0, node: name)
    }
    return (run, isPlain ? .plain : .odd)
  }

  /// A name as `convertFromSnakeCase` changes it; nil for one that only `SnakeCase.key` can change.
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
    let isCustom = !options.takesNamesAsTheyAre && !options.convertsSnakeCase
    let path = isCustom ? codingPath(of: place, node: node) : []
    var members: [String: Int] = [:]
    members.reserveCapacity(word(at: node).length)
    for name in document.names(of: node) {
      guard let text = try? document.text(at: name) else { continue }
      let key = options.key(for: text, at: path)
      if members[key] == nil { members[key] = name + 1 }
    }
    return members
  }

  /// The value of the first member that the key means, nil for none; names are equal as strings are, as
  /// they are to `JSONDecoder`.
  func find(_ key: String, in object: JSONObject) -> Int? {
    guard object.generation == table.generation, object.names != .hashed else {
      return findHashed(key, in: object)
    }
    let found = key.utf8.withContiguousStorageIfAvailable { bytes in
      bytes.baseAddress.map { search($0, bytes.count, in: object) } ?? Self.odd
    }
    let number = found ?? Self.odd
    if number == Self.odd || object.names == .odd {
      return findOdd(key, in: object, before: number < 0 ? nil : number)
    }
    return number < 0 ? nil : table.node(number, of: Int(object.count), in: Int(object.run)) + 1
  }

  /// No name is these bytes.
  private static var none: Int { -1 }
  /// Nor need one be: text that is not ASCII can be written in several ways.
  private static var odd: Int { -2 }

  /// The number of the first plain name of these bytes.
  @inline(__always)
  private func search(
    _ key: UnsafePointer<UInt8>, _ length: Int, in object: JSONObject
  ) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let wanted = ones &* UInt64(JSONMemberTable.signature(key, length))
    let (count, run, table) = (Int(object.count), Int(object.run), table)
    var base = 0
    while base < count {
      let difference = table[run, base >> 3] ^ wanted
      // Has the high bit of each byte set that is equal, and perhaps of bytes above such a one.
      var equal = (difference &- ones) & ~difference & (ones &* 0x80)
      while equal != 0 {
        let number = base + equal.trailingZeroBitCount >> 3
        guard number < count else { break }
        if isName(table.node(number, of: count, in: run), key, length) { return number }
        equal &= equal &- 1
      }
      base += 8
    }
    for index in 0..<length where key[index] >= 0x80 { return Self.odd }
    return Self.none
  }

  @inline(__always)
  private func isName(_ name: Int, _ key: UnsafePointer<UInt8>, _ length: Int) -> Bool {
    guard options.takesNamesAsTheyAre else {
      return withConverted(name) { Self.equal($0, $1, key, length) } ?? false
    }
    let word = word(at: name)
    return word.isKind(.string) && Self.equal(bytes + word.offset, word.length, key, length)
  }

  @inline(__always)
  static func equal(
    _ one: UnsafePointer<UInt8>, _ length: Int, _ other: UnsafePointer<UInt8>, _ otherLength: Int
  ) -> Bool {
    guard length == otherLength else { return false }
    let (one, other) = (UnsafeRawPointer(one), UnsafeRawPointer(other))
    var index = 0
    while index + 8 <= length {
      if one.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        != other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      {
        return false
      }
      index += 8
    }
    while index < length {
      if one.load(fromByteOffset: index, as: UInt8.self)
        != other.load(fromByteOffset: index, as: UInt8.self)
      {
        return false
      }
      index += 1
    }
    return true
  }

  /// Looks among names that bytes do not tell: escaped ones, others than ASCII; and among all of them for
  /// a key that is not ASCII. `found` is the first plain name.
  @inline(never)
  private func findOdd(_ key: String, in object: JSONObject, before found: Int?) -> Int? {
    let isASCII = key.utf8.allSatisfy { $0 < 0x80 }
    for (number, name) in document.names(of: object.node).enumerated() {
      if number == found { return name + 1 }
      if isASCII, isPlain(name) { continue }
      guard let text = try? document.text(at: name) else { continue }
      if options.key(for: text, at: []) == key { return name + 1 }
    }
    return nil
  }

  private func isPlain(_ name: Int) -> Bool {
    guard options.takesNamesAsTheyAre else { return withConverted(name) { _, _ in true } ?? false }
    return word(at: name).isKind(.string)
  }

  /// Of many members; and for a container that outlived its item.
  @inline(never)
  private func findHashed(_ key: String, in object: JSONObject) -> Int? {
    members(of: object)[key]
  }

  private func members(of object: JSONObject) -> [String: Int] {
    if object.generation == table.generation, let members = hashed[object.node] {
      return members
    }
    return hashedMembers(of: object.node, object.place)
  }

  /// The keys of all members, each once, in the page's order.
  func keys(of object: JSONObject) -> [String] {
    if object.names == .hashed {
      return members(of: object).sorted { $0.value < $1.value }.map(\.key)
    }
    var seen = Set<String>(minimumCapacity: Int(object.count))
    return document.names(of: object.node).compactMap { name in
      guard let text = try? document.text(at: name) else { return nil }
      let key = options.key(for: text, at: [])
      return seen.insert(key).inserted ? key : nil
    }
  }
}
