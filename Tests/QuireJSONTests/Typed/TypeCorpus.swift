import Foundation
import QuireCore

/// Types of every shape that `Decodable` knows.
enum TypeCorpus {
  struct Flat: Decodable {
    let id: Int
    let name: String
    let isOpen: Bool
    let score: Double
    let ratio: Float
    let note: String?
    let count: UInt8?
    let delta: Int16?
    let total: UInt64?
    let weight: Double?
    let share: Float?
    let flag: Bool?
  }

  struct Integers: Decodable {
    let a: Int8, b: Int16, c: Int32, d: Int64, e: UInt, f: UInt16, g: UInt32
    let h: Int8?, i: Int16?, j: Int32?, k: Int64?, l: UInt?, m: UInt16?, n: UInt32?, o: Int?
  }

  struct Special: Decodable {
    let at: Date
    let maybe: Date?
    let blob: Data?
    let link: URL?
    let price: Decimal?
    let key: UUID?
    let dates: [Date]?
  }

  struct Nested: Decodable {
    struct User: Decodable {
      let login: String
      let tags: [String]
      let friends: [User]?
    }

    enum State: String, Decodable { case open, closed }

    let user: User
    let state: State
    let states: [State?]?
    let matrix: [[Int]]?
    let byName: [String: Double]?
    let byNumber: [Int: String]?
    let byState: [String: User]?
    let set: Set<String>?
  }

  enum Shape: Decodable {
    case circle(radius: Double)
    case square(side: Int, name: String?)
    case pair(Int, Int)
    case empty
  }

  struct Holder: Decodable {
    let shape: Shape
    let shapes: [Shape]?
  }

  class Animal: Decodable {
    let legs: Int
    private enum CodingKeys: CodingKey { case legs }
    required init(from decoder: any Decoder) throws {
      legs = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .legs)
    }
  }

  final class Dog: Animal {
    let name: String
    private enum CodingKeys: CodingKey { case name }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      try super.init(from: container.superDecoder())
    }
  }

  final class Cat: Animal {
    let name: String
    private enum CodingKeys: String, CodingKey { case name, base }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      try super.init(from: container.superDecoder(forKey: .base))
    }
  }

  /// Reads by hand what nothing synthesizes.
  struct ByHand: Decodable {
    private enum Keys: Int, CodingKey { case list = 1, object = 2, names }
    private enum Inner: String, CodingKey { case value, at }

    let words: [String]

    init(from decoder: any Decoder) throws {
      let outer = try decoder.container(keyedBy: Keys.self)
      var words: [String] = [outer.contains(.names) ? "names" : "none"]
      words += outer.allKeys.map(\.stringValue).sorted()
      words.append("\(outer.codingPath.count) \((try? outer.decodeNil(forKey: .names)) ?? false)")
      let object = try outer.nestedContainer(keyedBy: Inner.self, forKey: .object)
      words.append(object.codingPath.map { "\($0.stringValue)\($0.intValue ?? -1)" }.joined())
      words.append(try object.decodeIfPresent(String.self, forKey: .value) ?? "nil")
      words.append("\(try object.decodeIfPresent(Date.self, forKey: .at) as Any)")
      var list = try outer.nestedUnkeyedContainer(forKey: .list)
      words.append("\(list.count ?? -1)")
      while !list.isAtEnd {
        words.append("\(list.currentIndex)")
        if try list.decodeNil() {
          words.append("null")
        } else if let number = try? list.decode(Int.self) {
          words.append("\(number)")
        } else if let text = try? list.decode(String.self) {
          words.append(text)
        } else if var inner = try? list.nestedUnkeyedContainer() {
          words.append(inner.codingPath.map(\.stringValue).joined(separator: "."))
          words.append("\(try inner.decodeIfPresent(Bool.self) as Any)")
          words.append("\(try inner.decodeIfPresent(String.self) as Any) \(inner.currentIndex)")
        } else if let inner = try? list.nestedContainer(keyedBy: Inner.self) {
          words.append(try inner.decode(String.self, forKey: .value))
        } else {
          let inner = try list.superDecoder()
          words.append(try inner.singleValueContainer().decode(Bool.self) ? "yes" : "no")
          words.append(inner.codingPath.map(\.stringValue).joined(separator: "."))
        }
      }
      self.words = words
    }
  }

  /// A value that is one of several, tried one after the other.
  enum Either: Decodable {
    case number(Int), text(String), list([Either]), object([String: Either]), nothing

    init(from decoder: any Decoder) throws {
      let single = try decoder.singleValueContainer()
      if single.decodeNil() {
        self = .nothing
      } else if let number = try? single.decode(Int.self) {
        self = .number(number)
      } else if let text = try? single.decode(String.self) {
        self = .text(text)
      } else if let list = try? single.decode([Either].self) {
        self = .list(list)
      } else {
        self = .object(try single.decode([String: Either].self))
      }
    }
  }

  /// Reads past the end, and asks again after a failure.
  struct Pairs: Decodable {
    let first: Int
    let rest: [String]

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      first = try list.decode(Int.self)
      var rest: [String] = []
      rest.append(try list.decodeIfPresent(String.self) ?? "none")
      rest.append((try? list.decode(Double.self)).map { "\($0)" } ?? "no number")
      rest.append(try list.decode(String.self))
      rest.append("\(list.currentIndex) \(list.isAtEnd)")
      self.rest = rest
    }
  }

  /// Keys as in documents with an underscore here and there.
  struct Underscored: Decodable {
    let createdAt: Int?
    let _private: Int?
    let trailing: Int?
    let allCaps: Int?
    let urlText: Int?
    let a1B: Int?
    let camelCase: Int?
    let createdat: Int?
    let größeNull: Int?
    let nested: [String: Int]?
    let byName: [String: Inner]?
    struct Inner: Decodable { let innerName: Int? }

    private enum CodingKeys: String, CodingKey {
      case createdAt, _private, trailing = "trailing_", allCaps = "URLText", urlText, a1B, camelCase
      case createdat, größeNull, nested, byName
    }
  }
}
