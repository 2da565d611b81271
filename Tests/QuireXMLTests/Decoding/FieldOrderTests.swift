import QuireCore
import QuirePagination
import QuireTesting
import Testing

@testable import QuireXML

@Suite("Fields in any order")
struct FieldOrderTests {
  private struct Child {
    /// As the page writes it.
    let name: String
    let local: String
    let namespace: String?
    let value: Int?

    var text: String { "<\(name)>\(value.map { "\($0)" } ?? "")</\(name)>" }
  }

  /// A value that reads itself.
  private struct Boxed: Decodable {
    let value: Int

    init(from decoder: any Decoder) throws {
      value = try decoder.singleValueContainer().decode(Int.self)
    }
  }

  /// Anything.
  private struct Skipped: Decodable {}

  private func container(_ page: String) throws -> KeyedDecodingContainer<XMLKey> {
    let index = try XMLDocument(Array(page.utf8)).index
    let context = XMLItemContext(index, XMLDecodingOptions())
    return KeyedDecodingContainer(XMLKeyedContainer<XMLKey>(context: context, node: 0))
  }

  /// Elements of a few names, some of which differ in their prefix or namespace alone.
  private func children(_ count: Int, _ random: inout SeededGenerator) -> [Child] {
    let names: [(name: String, local: String, namespace: String?)] = [
      ("a", "a", nil), ("b", "b", nil), ("c", "c", nil), ("p:a", "a", "u"), ("q:a", "a", "u"),
      ("o:b", "b", "v"), ("é", "é", nil), ("dd", "dd", nil), ("b1", "b1", nil),
    ]
    var children: [Child] = []
    for number in 0..<count {
      let (name, local, namespace) = names[Int.random(in: 0..<names.count, using: &random)]
      let isEmpty = Int.random(in: 0..<6, using: &random) == 0
      children.append(
        Child(name: name, local: local, namespace: namespace, value: isEmpty ? nil : number))
    }
    return children
  }

  @Test("D-1: the first of several elements counts and begins their list, in any order of asking")
  func anyOrder() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    for round in 0..<300 {
      let most = round.isMultiple(of: 10) ? 400 : 12
      let count = Int.random(in: 0...most, using: &random)
      let children = children(count, &random)
      let elements = children.map { $0.text + (Bool.random(using: &random) ? "\n" : "<!-- -->") }
      let fields = try container(
        "<e xmlns:p='u' xmlns:q='u' xmlns:o='v'>\(elements.joined())</e>")
      for _ in 0..<30 {
        let name = ["a", "b", "c", "é", "e\u{301}", "dd", "b1", "no"].randomElement(using: &random)
        let key = XMLKey(stringValue: try #require(name))
        let first = children.first { $0.local == key.stringValue }
        let same = children.filter { $0.local == first?.local && $0.namespace == first?.namespace }
        let note: Comment = "seed \(seed), round \(round), \(key.stringValue)"
        switch Int.random(in: 0..<7, using: &random) {
        case 0: #expect(fields.contains(key) == (first != nil), note)
        case 1: #expect((try? fields.decode(Int.self, forKey: key)) == first?.value, note)
        case 2: #expect(try fields.decodeNil(forKey: key) == (first?.value == nil), note)
        case 3: #expect(try fields.decodeIfPresent(Int.self, forKey: key) == first?.value, note)
        case 4: #expect((try? fields.decode(Boxed.self, forKey: key))?.value == first?.value, note)
        case 5: #expect(try fields.decode([Int?].self, forKey: key) == same.map(\.value), note)
        default:
          let list = try fields.nestedUnkeyedContainer(forKey: key)
          #expect(try tried(list) == same.map(\.value), note)
        }
      }
    }
  }

  /// What is in a list that is tried element by element; nil for an element that is no number.
  private func tried(_ list: any UnkeyedDecodingContainer) throws -> [Int?] {
    var list = list
    var found: [Int?] = []
    while !list.isAtEnd {
      let value = try? list.decode(Int.self)
      if value == nil { _ = try list.decode(Skipped.self) }
      found.append(value)
    }
    return found
  }

  @Test("D-1: an element that does not fit stays the next one, and its path has its number")
  func attempts() throws {
    for count in [2, 100, 300] {
      let page = (0..<count).map { $0.isMultiple(of: 2) ? "<b>x</b>" : "<b>\($0)</b>" }.joined()
      let fields = try container("<e>\(page)</e>")
      var list = try fields.nestedUnkeyedContainer(forKey: XMLKey(stringValue: "b"))
      for number in 0..<count {
        #expect(list.currentIndex == number)
        do {
          let value = try list.decode(Int.self)
          #expect(value == number && !number.isMultiple(of: 2))
        } catch DecodingError.typeMismatch(_, let context) {
          #expect(context.codingPath.map(\.stringValue) == ["b", "\(number)"])
          let text = try list.decode(String.self)
          #expect(text == "x")
        }
      }
      #expect(list.isAtEnd)
    }
  }
}
