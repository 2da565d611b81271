import Foundation
import QuireCore
import QuireJSON
import QuirePagination
import QuireTesting
import Testing

/// Items straight from the index, against Foundation's decoder.
@Suite("Typed decoding, as JSONDecoder decodes")
struct TypedDifferentialTests {
  private static let flat = #"""
    {"id":1,"name":"Ann","isOpen":true,"score":1.5,"ratio":0.1,"note":null,"count":255,"delta":-32768,
     "total":18446744073709551615,"weight":1e-7,"share":3.4e38,"flag":false}
    """#
  private static let special = #"""
    {"at":0.5,"maybe":null,"blob":"aGk=","link":"https://example.com/ä?q=1","price":1.10,
     "key":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F","dates":[1,2.5,-3]}
    """#
  private static let nested = #"""
    {"user":{"login":"ann","tags":["a","","ü\n"],"friends":[{"login":"bob","tags":[]}]},
     "state":"open","states":["closed",null],"matrix":[[1,2],[],[-3]],
     "byName":{"x":1,"y":2.5},"byNumber":{"1":"one","-2":"two"},"byState":{"open":{"login":"c","tags":[]}},
     "set":["a","b","a"]}
    """#
  private static let shapes = #"""
    {"shape":{"circle":{"radius":2}},
     "shapes":[{"square":{"side":3,"name":"s"}},{"pair":{"_0":1,"_1":2}},{"empty":{}}]}
    """#
  private static let byHand = #"""
    {"object":{"value":"v","at":7},
     "list":[1,null,"two",[true,"x"],[],{"value":"three"},true],"names":null,"extra":[{}]}
    """#
  private static let underscored = #"""
    {"created_at":1,"_private":2,"trailing_":3,"URL_text":4,"url_text":5,"a1_b":6,"camelCase":7,
     "createdAt":8,"größe_null":9,"nested":{"a_b":1,"c":2},"by_name":{"x_y":{"inner_name":3}},
     "url text":1,"a__b":2,"___":3,"_":4,"A_B c_D":5,"2_fa":6}
    """#

  /// A type, and a document that fits it.
  private struct Case: Sendable {
    let document: String
    let compare: @Sendable (String, Settings, String) -> Void

    /// `inAnyOrder`: the type reads members as they come, which to `JSONDecoder` is no order; so which
    /// of several errors comes first means nothing.
    init<Value: Decodable & SendableMetatype>(
      _ type: Value.Type, _ document: String, inAnyOrder: Bool = false
    ) {
      self.document = document
      compare = { expectSame(type, $0, $1, $2, inAnyOrder: inAnyOrder) }
    }
  }

  private static let cases: [Case] = [
    Case(TypeCorpus.Flat.self, flat),
    Case([TypeCorpus.Flat].self, "[\(flat),\(flat)]"),
    Case(TypeCorpus.Integers.self, #"{"a":-128,"b":1,"c":2,"d":3,"e":4,"f":5,"g":6,"h":7}"#),
    Case(TypeCorpus.Special.self, special),
    Case(TypeCorpus.Nested.self, nested, inAnyOrder: true),
    Case(TypeCorpus.Holder.self, shapes),
    Case(TypeCorpus.Dog.self, #"{"name":"Rex","super":{"legs":4},"legs":3}"#),
    Case(TypeCorpus.Cat.self, #"{"name":"Tom","base":{"legs":4}}"#),
    Case(TypeCorpus.ByHand.self, byHand),
    Case(TypeCorpus.Either.self, #"[1,"a",null,[],{"b":[2,{}]},[["x"]]]"#, inAnyOrder: true),
    Case(TypeCorpus.Pairs.self, #"[1,"two","three"]"#),
    Case(TypeCorpus.Underscored.self, underscored, inAnyOrder: true),
    Case(
      [String: TypeCorpus.Nested.User].self, #"{"a":{"login":"x","tags":["y"]},"b_c":null}"#,
      inAnyOrder: true),
    Case(
      [Int: [TypeCorpus.Nested.State]].self, #"{"1":["open"],"2":[],"x":["closed"]}"#,
      inAnyOrder: true),
    Case([String?].self, #"["a",null,"b"]"#),
    Case(Double?.self, "2.5"),
    Case([Decimal].self, "[1.10,1e3,123456789012345678901234567890.5,-0.1]"),
    Case([Date].self, #"["2024-03-10T12:10:00Z","2024-02-29T23:59:59Z",5]"#),
    Case([Data].self, #"["aGk=","","YQ=="]"#),
    Case([UUID].self, #"["E621E1F8-C36C-495A-93FC-0C247A3E6E5F"]"#),
  ]

  @Test(
    "14-Typed: every shape of type decodes as JSONDecoder decodes it, under every setting",
    arguments: Settings.allCases)
  func shapes(settings: Settings) {
    for each in Self.cases { each.compare(each.document, settings, "") }
  }

  @Test(
    "14-Typed: on damaged documents, values, kinds of error and coding paths are JSONDecoder's",
    arguments: Settings.allCases)
  func damaged(settings: Settings) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for round in 0..<40 {
      for each in Self.cases {
        var value = try JSONValue(parsing: Array(each.document.utf8))
        for _ in 0...random.below(3) { value.damage(&random) }
        each.compare(value.description, settings, "(seed \(seed), round \(round))")
      }
    }
  }

  @Test("14-Typed: integers at every bound, and however they are written")
  func integers() {
    let texts =
      [
        "0", "-0", "1", "-1", "1.0", "1e2", "1E2", "-1e0", "10e-1", "1.5", "1e-1", "0e1", "0.0",
        "-0.0",
      ]
      + [7, 8, 15, 16, 31, 32, 53, 54, 63, 64, 127, 128].flatMap { bits in
        [-2, -1, 0, 1].flatMap { offset -> [String] in
          let bound = Self.power(ofTwo: bits, plus: offset)
          return [bound, "-" + bound, bound + ".0", bound + "e0", "\(bound).5"]
        }
      } + ["9007199254740993.0", "123456789012345678901234567890", "1e18", "1e19", "1e40", "1e400"]
    for text in texts {
      func all<each Integer: FixedWidthInteger & Decodable>(_ type: repeat (each Integer).Type) {
        repeat expectSame((each type), text)
        repeat expectSame([(each Integer)].self, "[\(text)]")
      }
      all(
        Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self,
        UInt32.self, UInt64.self, Int128.self, UInt128.self)
      expectSame(TypeCorpus.Integers.self, #"{"a":\#(text),"b":\#(text),"c":1,"d":\#(text)}"#)
    }
  }

  @Test("14-Typed: lists of scalars, and an element among them that is none of theirs")
  func scalarLists() {
    for odd in ["null", "true", "1", "-1.5", "1e400", #""a\u00e9""#, "[]", "{}", "[1]"] {
      for list in ["[\(odd)]", #"["x",\#(odd)]"#, "[1,2,\(odd),3]", "[false,\(odd)]", odd] {
        expectSame([String].self, list)
        expectSame([Int].self, list)
        expectSame([Double].self, list)
        expectSame([Bool].self, list)
        expectSame([[Int]].self, "[[0],\(list)]")
        expectSame([String: [Double]].self, #"{"a":\#(list)}"#)
      }
    }
  }

  private static func power(ofTwo bits: Int, plus offset: Int) -> String {
    // 2¹²⁸ itself fits no type: its digits are written by hand.
    guard bits < 128 else {
      return offset < 0 ? "\(UInt128.max)" : "340282366920938463463374607431768211456"
    }
    return "\(UInt128(1) << UInt128(bits) - UInt128(2) + UInt128(offset + 2))"
  }

  @Test("14-Typed: floating-point numbers to the last bit")
  func floats() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    var texts = [
      "0", "-0", "0.0", "-0.0", "0e5", "0e1", "-0e1", "0.0e10", "1e308", "1.7976931348623157e308",
      "1.7976931348623159e308", "1e309", "-1e400", "5e-324", "2e-324", "1e-400", "4.9e-324",
      "2.2250738585072014e-308", "9007199254740993", "9007199254740992.5", "0.1",
      "0.30000000000000004",
      "123456789012345678", "1234567890123456789012", "1e22", "1e23", "1.0e-22", "3.4028235e38",
      "3.4028236e38", "1e-45", "1e-46", "16777217", "16777219", "0.000001", "8.5e-6", "1e0", "1E+2",
      "1e-2", "100000000000000000000000", "7.0e00000000001", "1e00000000000000000000000001",
    ]
    for _ in 0..<400 {
      texts.append(
        "\(Double(bitPattern: random.next() & ~(0x7FF << 52) | random.next() % 2046 << 52))")
      texts.append("\(Float(bitPattern: UInt32(truncatingIfNeeded: random.next() % 0x7F80_0000)))")
      let (whole, part) = (random.next() % 100_000, random.next() % 10_000_000)
      texts.append("\(whole).\(part)")
      texts.append("-\(whole)\(part)e\(Int(random.next() % 60) - 30)")
    }
    for text in texts {
      expectSame(Double.self, text, .plain, "(seed \(seed))")
      expectSame(Float.self, text, .plain, "(seed \(seed))")
      expectSame([Double?].self, "[\(text),null]", .secondsAndWords, "(seed \(seed))")
    }
    for word in [#""INF""#, #""-INF""#, #""¿NaN?""#, #""\u00bfNaN?""#, #""inf""#, #""""#, "null"] {
      for settings in [Settings.plain, .secondsAndWords] {
        expectSame(Double.self, word, settings)
        expectSame([Float].self, "[\(word)]", settings)
        expectSame(Date.self, word, settings)
      }
    }
  }

  @Test("14-Typed: texts with escapes, pairs and any script, as names and as values")
  func texts() {
    let texts = [
      #""#, #"a"#, #"\n"#, #"\"\\\/\b\f\n\r\t"#, #"\u0000"#, #"\u00e9"#, "é", "e\u{301}",
      #"e\u0301"#,
      #"\ud83d\ude00"#, "😀", #"x\ud83d\ude00y"#, "Größe", #"Gr\u00f6\u00dfe"#, "検索", "\u{212A}",
      #"\u212A"#, "K", String(repeating: "long ", count: 20), "\u{10FFFF}", "\u{7F}",
      "a\u{0}b".escaped,
      #"a long text with an escape \u0041 far behind its beginning, and one more \\"#,
      "fifteen letters",
      "sixteen letters.",
    ]
    for text in texts {
      expectSame(String.self, "\"\(text)\"")
      expectSame([String].self, "[\"\(text)\",\"b\"]")
      for other in texts {
        let document = "{\"\(text)\":1,\"\(other)\":2,\"K\":3}"
        expectSame([String: Int].self, document)
        expectSame(Named.self, document)
      }
    }
  }

  /// Asks for names that others are equivalent to.
  private struct Named: Decodable {
    let found: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: JSONName.self)
      found = try [
        "", "a", "é", "e\u{301}", "\n", "K", "\u{212A}", "Größe", "\"\\/\u{8}\u{C}\n\r\t",
      ]
      .map { "\(try container.decodeIfPresent(Int.self, forKey: JSONName($0)) as Any)" }
    }
  }

  @Test("14-Typed: objects of any number of members, in any order, with any of them twice")
  func members() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for count in [0, 1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 200] {
      for _ in 0..<6 {
        let members = (0..<count).map { _ in
          let name =
            String(repeating: "n", count: Int(random.below(4))) + "\(random.below(count + 3))"
          return "\"\(name)\":\(random.below(100))"
        }
        let document = "{\(members.joined(separator: ","))}"
        for settings in [Settings.plain, .snake, .custom] {
          expectSame([String: Int].self, document, settings, "(seed \(seed))")
          expectSame(Numbered.self, document, settings, "(seed \(seed))")
        }
      }
    }
  }

  private struct Numbered: Decodable {
    let found: [Int?]

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: JSONName.self)
      found = try (0..<210).flatMap { number in
        try ["", "n", "nn", "nnn"].map {
          try container.decodeIfPresent(Int.self, forKey: JSONName("\($0)\(number)"))
        }
      }
    }
  }

  @Test("14-Typed: names of letters, digits and underscores are converted as JSONDecoder does it")
  func convertedNames() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let (plain, others) = (Array("aZbq09_2x__"), Array("a_2-'. :/Zé9ßŉ"))
    var names = [
      "is_2fa_enabled", "is_b2b_customer", "use_i18n", "_a1b_2c3d_", "x_1", "x__9y", "it_isn't_so",
      "mac_osX.v2a", "h264_4KVideo", String(repeating: "a1_", count: 30) + "b2c",
    ]
    for round in 0..<2_000 {
      let letters = round.isMultiple(of: 3) ? others : plain
      names.append(String((0...random.below(14)).map { _ in letters[random.below(letters.count)] }))
    }
    for start in stride(from: 0, to: names.count, by: 8) {
      let members = names[start..<min(start + 8, names.count)].map { "\"\($0)\":\($0.utf8.count)" }
      let document = "{\(members.joined(separator: ","))}"
      expectSame(AllMembers.self, document, .snake, "(seed \(seed))")
    }
  }

  /// Asks for each name that the decoder says there is.
  private struct AllMembers: Decodable {
    let found: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: JSONName.self)
      found = try container.allKeys.map {
        "\($0.stringValue)=\(try container.decode(Int.self, forKey: $0))"
      }.sorted()
    }
  }

  @Test("14-Typed: dates in every form, close to every bound")
  func dates() {
    let texts = [
      "2024-03-10T12:10:00Z", "2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z",
      "1900-02-29T00:00:00Z",
      "2000-02-29T12:00:00Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z",
      "1583-01-01T00:00:00Z",
      "1582-10-15T00:00:00Z", "1582-10-04T00:00:00Z", "0001-01-01T00:00:00Z",
      "9999-12-31T23:59:59Z",
      "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z", "2024-04-31T00:00:00Z",
      "2024-01-01T24:00:00Z",
      "2024-01-01T23:60:00Z", "2024-01-01T23:59:60Z", "2024-01-01T00:00:00+01:00", "2024-01-01",
      "2024-01-01T00:00:00.5Z", "2024-01-01 00:00:00Z", "2024-01-01T00:00:00", "20240101T000000Z",
      "",
      "2024-1-01T00:00:00Z", " 2024-01-01T00:00:00Z", "2024-01-01T00:00:00Zx",
      "2024-01-01t00:00:00z",
      "2024-01-01T00:00:00-0130", "2024-W01-1T00:00:00Z", "+024-01-01T00:00:00Z",
      "2024-01-0aT00:00:00Z",
    ]
    for text in texts { expectSame([Date].self, "[\"\(text)\"]", .dated) }
    for year in stride(from: 1583, through: 2399, by: 7) {
      for month in 1...12 {
        let month = month < 10 ? "0\(month)" : "\(month)"
        expectSame(Date.self, "\"\(year)-\(month)-28T23:01:59Z\"", .dated)
      }
    }
  }
}

extension SeededGenerator {
  /// A number from 0 up to `bound`, without it.
  fileprivate mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}

extension String {
  /// As a JSON string without its quotes.
  fileprivate var escaped: String {
    String(JSONValue.string(self).description.dropFirst().dropLast())
  }
}

extension JSONValue {
  /// Changes something, anywhere.
  fileprivate mutating func damage(_ random: inout SeededGenerator) {
    switch self {
    case .object(var members) where !members.isEmpty && random.below(8) > 0:
      let index = random.below(members.count)
      switch random.below(9) {
      case 0: members.remove(at: index)
      case 1: members.append(Member(members[index].name, Self.any(&random)))
      case 2: members.insert(Member(members[index].name, Self.any(&random)), at: 0)
      case 3: members[index].name += "x"
      case 4: members.shuffle(using: &random)
      default: members[index].value.damage(&random)
      }
      self = .object(members)
    case .array(var elements) where !elements.isEmpty && random.below(8) > 0:
      let index = random.below(elements.count)
      switch random.below(6) {
      case 0: elements.remove(at: index)
      case 1: elements.insert(Self.any(&random), at: index)
      default: elements[index].damage(&random)
      }
      self = .array(elements)
    default: self = Self.any(&random)
    }
  }

  private static func any(_ random: inout SeededGenerator) -> JSONValue {
    let values: [JSONValue] = [
      .null, true, false, 0, 1, -1, 300, .number("1.5"), .number("1e3"), .number("1e999"), "", "x",
      "open",
      .string("é\n😀"), .string("aGk="), .string("2024-03-10T12:10:00Z"), .string("http://[x"),
      "INF",
      [], [1], ["a"], [.null], [:], ["a": 1], ["legs": 4], ["_0": 1, "_1": 2], ["value": "v"],
      .number("123456789012345678901"), .number("-129"), .number("0.1e-7"),
    ]
    return values[random.below(values.count)]
  }
}
