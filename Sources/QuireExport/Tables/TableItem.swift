import QuireCore
import QuireJSON
package import QuirePagination

/// An item on its way into a table: an object whose members can be visited.
package struct TableItem: Sendable {
  private let item: RawItem

  /// Takes an object as it is; anything else is the one member `value` of an object.
  ///
  /// Throws `malformed` for an item that is no JSON.
  package init(_ item: RawItem) throws {
    if try item.visitMembers({ _ in }, finish: {}) {
      self.item = item
    } else if item.bytes.first == UInt8(ascii: "{") {
      self.item = try RawItem(Array(item.bytes))
    } else {
      self.item = try RawItem(Array("{\"value\":".utf8) + item.bytes + Array("}".utf8))
    }
  }

  /// How many bytes it has.
  package var count: Int { item.bytes.count }

  /// Shows each member, in order, then calls `finish`, until which the bytes live.
  @inline(__always)
  package func visit(_ visit: (RawMember) throws -> Void, finish: () throws -> Void) throws {
    _ = try item.visitMembers(visit, finish: finish)
  }

  /// Appends the JSON text of a member's object or array, without white space.
  package func append(_ member: RawMember, to output: inout [UInt8]) {
    item.value(of: member).appendCompact(to: &output)
  }

  /// Appends the whole item, without white space.
  package func append(to output: inout [UInt8]) { item.appendCompact(to: &output) }

  /// Finds or adds a column for each of its members, and widens it. `seen` are marks of the columns
  /// that have their value, which are one less than `mark` at most.
  ///
  /// Throws `SinkError` with the code `unfit` where a part of its key is missing.
  package func observe(
    by columns: inout TableColumns, _ seen: inout [Int], mark: Int
  ) throws {
    columns.beginItem()
    var keyed = 0
    try visit({ member in
      guard let place = columns.observe(member) else { return }
      while seen.count <= place { seen.append(0) }
      guard seen[place] != mark else {
        // The first one counts; the rest holds the other.
        columns.addRest()
        return
      }
      seen[place] = mark
      if member.kind != .null, columns.isKey(place) { keyed += 1 }
    }, finish: {})
    guard !columns.key.isEmpty else { return }
    for part in columns.key {
      if part.member != nil {
        keyed -= 1
        guard keyed >= 0 else { throw Self.unfit(part) }
      } else {
        guard let value = try item.value(at: part.path), value != .null else {
          throw Self.unfit(part)
        }
        columns.widen(part.place, to: value.isScalar ? .text : .json)
      }
    }
  }

  /// The value of a part of the key that is no member, as text.
  package func text(of part: TableColumns.KeyPart) throws -> String {
    let value = try item.value(at: part.path) ?? .null
    return value.string ?? value.description
  }

  private static func unfit(_ part: TableColumns.KeyPart) -> SinkError {
    SinkError(
      .unfit,
      "An item has nothing at \(part.path.place), where its key should be: no later one could take "
        + "its place. Name a key that all items have, or none.")
  }
}

extension JSONValue {
  fileprivate var isScalar: Bool {
    switch self {
    case .array, .object: false
    case .null, .bool, .number, .string: true
    }
  }
}
