import QuirePagination

/// An object whose members are looked up by key. It holds no references, so that copying it is
/// free.
struct JSONObject {
  fileprivate let number: UInt32
  let place: JSONPlace
  fileprivate let run: UInt32
  fileprivate let generation: UInt32
  /// Whether keys are looked up in a dictionary: there are many members, or a strategy makes the
  /// keys. Otherwise they are looked up in the page, by bytes.
  fileprivate let isHashed: Bool

  /// The most members of an object whose names are not hashed.
  fileprivate static let most = 64

  var node: Int { Int(number) }
}

/// Looking up members.
extension JSONItemContext {
  /// Prepares an object for looking up its members.
  func object(at node: Int, _ place: JSONPlace) -> JSONObject {
    let isHashed = word(at: node).length > JSONObject.most || !options.takesNamesAsTheyAre
    if isHashed { hashed[node] = hashedMembers(of: node, place) }
    let run = isHashed ? 0 : table.reserveProgress(from: node + 2)
    return JSONObject(
      number: UInt32(truncatingIfNeeded: node), place: place,
      run: UInt32(truncatingIfNeeded: run), generation: table.generation, isHashed: isHashed)
  }

  private func hashedMembers(of node: Int, _ place: JSONPlace) -> [String: Int] {
    let path = options.hasCustomKeys ? codingPath(of: place, node: node) : []
    var members: [String: Int] = [:]
    members.reserveCapacity(word(at: node).length)
    for name in document.names(of: node) {
      guard let text = try? document.text(at: name) else { continue }
      let key = self.key(for: text, at: path[...])
      if members[key] == nil { members[key] = name + 1 }
    }
    return members
  }

  /// Returns the key of a member. Names recur from item to item, and converting one takes far longer
  /// than looking it up.
  private func key(for name: String, at path: ArraySlice<any CodingKey>) -> String {
    guard !options.hasCustomKeys, !options.takesNamesAsTheyAre else {
      return options.keys.key(for: name, at: path)
    }
    if let known = convertedNames[name] { return known }
    let key = options.keys.key(for: name, at: path)
    if convertedNames.count < 1024 { convertedNames[name] = key }
    return key
  }

  /// Returns the value of the first member with a key, nil if there is none. Keys are equal if they
  /// are equal strings, as in `JSONDecoder`.
  @inline(__always)
  func find(_ key: String, in object: JSONObject) -> Int? {
    guard !object.isHashed, object.generation == table.generation else {
      return members(of: object)[key]
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
      if isASCII, word(at: name).isKind(.string) { continue }
      if (try? document.text(at: name)) == key { return name + 1 }
    }
    return nil
  }

  /// Returns the members by key, of an object with many members or for a container that outlived its
  /// item.
  @inline(never)
  private func members(of object: JSONObject) -> [String: Int] {
    if object.generation == table.generation, let members = hashed[object.node] {
      return members
    }
    return hashedMembers(of: object.node, object.place)
  }

  /// Returns the keys of all members, each once, in the page's order.
  func keys(of object: JSONObject) -> [String] {
    if object.isHashed {
      return members(of: object).sorted { $0.value < $1.value }.map(\.key)
    }
    var seen: Set<String> = []
    return document.names(of: object.node).compactMap { name in
      (try? document.text(at: name)).flatMap { seen.insert($0).inserted ? $0 : nil }
    }
  }
}
