import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

/// The public JSONTestSuite by Nicolas Seriot, from the file on.
@Suite("JSONTestSuite")
struct JSONTestSuiteTests {
  static let folder = "json-test-suite/test_parsing"

  static func names(_ prefix: String) throws -> [String] {
    try Fixtures.names(in: folder).filter { $0.hasPrefix(prefix) }
  }

  @Test("J7: whatever must be accepted is accepted, and every value in it can be read")
  func accepted() throws {
    let names = try Self.names("y_")
    #expect(names.count == 95)
    for name in names {
      let bytes = try Fixtures.bytes("\(Self.folder)/\(name)")
      #expect(throws: Never.self, "\(name)") { try JSONDocument(bytes).value(at: "") }
    }
  }

  @Test("J7: whatever must be rejected is rejected, as malformed or cut off")
  func rejected() throws {
    let names = try Self.names("n_")
    #expect(names.count == 188)
    for name in names {
      let bytes = try Fixtures.bytes("\(Self.folder)/\(name)")
      // The two of a hundred thousand brackets are too deep before they are cut off.
      let isDeep = name.contains("100000_opening_arrays") || name.contains("open_array_object")
      let error = #expect(throws: PageError.self, "\(name)") { try JSONDocument(bytes) }
      let codes: [PageError.Code] = isDeep ? [.limitExceeded] : [.malformed, .truncated]
      #expect(error.map { codes.contains($0.code) } == true, "\(name): \(error as Any)")
    }
  }

  @Test("J7: a small text becomes the same value as a page does, or is refused as well")
  func smallTexts() throws {
    for name in try Self.names("") {
      let bytes = try Fixtures.bytes("\(Self.folder)/\(name)")
      let page = try? JSONDocument(bytes, limits: DecodingLimits(depth: 512)).value(at: "")
      let text = try? JSONValue(parsing: bytes)
      guard page != text else { continue }
      let (found, wanted) = (text?.description ?? "refused", page?.description ?? "refused")
      Issue.record("\(name): \(found) instead of \(wanted)")
    }
  }

  /// What we decided where the standard leaves it open.
  enum Decision { case read, pageRefused(PageError.Code), valueRefused }

  static let decisions: [String: Decision] = [
    // Numbers keep their text, so none is too large or too small.
    "i_number_double_huge_neg_exp": .read,
    "i_number_huge_exp": .read,
    "i_number_neg_int_huge_exp": .read,
    "i_number_pos_double_huge_exp": .read,
    "i_number_real_neg_overflow": .read,
    "i_number_real_pos_overflow": .read,
    "i_number_real_underflow": .read,
    "i_number_too_big_neg_int": .read,
    "i_number_too_big_pos_int": .read,
    "i_number_very_big_negative_int": .read,
    // Half a surrogate pair is no text: the value is refused, the page is not.
    "i_object_key_lone_2nd_surrogate": .valueRefused,
    "i_string_1st_surrogate_but_2nd_missing": .valueRefused,
    "i_string_1st_valid_surrogate_2nd_invalid": .valueRefused,
    "i_string_incomplete_surrogate_and_escape_valid": .valueRefused,
    "i_string_incomplete_surrogate_pair": .valueRefused,
    "i_string_incomplete_surrogates_escape_valid": .valueRefused,
    "i_string_invalid_lonely_surrogate": .valueRefused,
    "i_string_invalid_surrogate": .valueRefused,
    "i_string_inverted_surrogates_U+1D11E": .valueRefused,
    "i_string_lone_second_surrogate": .valueRefused,
    // So are bytes that are not UTF-8.
    "i_string_UTF-8_invalid_sequence": .valueRefused,
    "i_string_UTF8_surrogate_U+D800": .valueRefused,
    "i_string_invalid_utf-8": .valueRefused,
    "i_string_iso_latin_1": .valueRefused,
    "i_string_lone_utf8_continuation_byte": .valueRefused,
    "i_string_not_in_unicode_range": .valueRefused,
    "i_string_overlong_sequence_2_bytes": .valueRefused,
    "i_string_overlong_sequence_6_bytes": .valueRefused,
    "i_string_overlong_sequence_6_bytes_null": .valueRefused,
    "i_string_truncated-utf-8": .valueRefused,
    // JSON between systems is UTF-8; its byte order mark is skipped.
    "i_string_UTF-16LE_with_BOM": .pageRefused(.malformed),
    "i_string_utf16BE_no_BOM": .pageRefused(.malformed),
    "i_string_utf16LE_no_BOM": .pageRefused(.malformed),
    "i_structure_UTF-8_BOM_empty_object": .read,
    // Deeper than DecodingLimits.depth.
    "i_structure_500_nested_arrays": .pageRefused(.limitExceeded),
  ]

  @Test("J2, J5, J6: each case the standard leaves open ends as decided")
  func decided() throws {
    let names = try Self.names("i_").map { String($0.dropLast(".json".count)) }
    #expect(Set(names) == Set(Self.decisions.keys))
    for (name, decision) in Self.decisions {
      let bytes = try Fixtures.bytes("\(Self.folder)/\(name).json")
      switch decision {
      case .read:
        #expect(throws: Never.self, "\(name)") { try JSONDocument(bytes).value(at: "") }
      case .pageRefused(let code):
        let error = #expect(throws: PageError.self, "\(name)") { try JSONDocument(bytes) }
        #expect(error?.code == code, "\(name)")
      case .valueRefused:
        let document = try JSONDocument(bytes)
        let error = #expect(throws: PageError.self, "\(name)") { try document.value(at: "") }
        #expect(error?.code == .malformed, "\(name)")
      }
    }
  }

  /// What becomes of the cases on which parsers differ; nil is a string that is refused.
  static let transformed: [String: JSONValue?] = [
    // The text of a number is kept, whatever a Double or an Int64 would make of it.
    "number_-9223372036854775808": .array([.number("-9223372036854775808")]),
    "number_-9223372036854775809": .array([.number("-9223372036854775809")]),
    "number_1.0": .array([.number("1.0")]),
    "number_1.000000000000000005": .array([.number("1.000000000000000005")]),
    "number_1000000000000000": .array([.number("1000000000000000")]),
    "number_10000000000000000999": .array([.number("10000000000000000999")]),
    "number_1e-999": .array([.number("1E-999")]),
    "number_1e6": .array([.number("1E6")]),
    "number_9223372036854775807": .array([.number("9223372036854775807")]),
    "number_9223372036854775808": .array([.number("9223372036854775808")]),
    // Names are bytes: two normal forms of one letter are two names.
    "object_key_nfc_nfd": .object([.init("\u{E9}", "NFC"), .init("e\u{301}", "NFD")]),
    "object_key_nfd_nfc": .object([.init("e\u{301}", "NFD"), .init("\u{E9}", "NFC")]),
    // Members of one name are all kept, in order; asking for one by its name is an error.
    "object_same_key_different_values": .object([.init("a", 1), .init("a", 2)]),
    "object_same_key_same_value": .object([.init("a", 1), .init("a", 1)]),
    "object_same_key_unclear_values": .object([.init("a", 0), .init("a", .number("-0"))]),
    // Text that is no Unicode is refused, neither repaired nor passed on.
    "string_1_escaped_invalid_codepoint": nil,
    "string_1_invalid_codepoint": nil,
    "string_2_escaped_invalid_codepoints": nil,
    "string_2_invalid_codepoints": nil,
    "string_3_escaped_invalid_codepoints": nil,
    "string_3_invalid_codepoints": nil,
    "string_with_escaped_NULL": .array(["A\u{0}B"]),
  ]

  @Test("J2, J3, J4, J5: each case on which parsers differ ends as decided")
  func transforms() throws {
    let folder = "json-test-suite/test_transform"
    let names = try Fixtures.names(in: folder).map { String($0.dropLast(".json".count)) }
    #expect(Set(names) == Set(Self.transformed.keys))
    for (name, value) in Self.transformed {
      let document = try JSONDocument(Fixtures.bytes("\(folder)/\(name).json"))
      guard let value else {
        let error = #expect(throws: PageError.self, "\(name)") { try document.value(at: "") }
        #expect(error?.code == .malformed, "\(name)")
        continue
      }
      let found = try document.value(at: "")
      #expect(found == value, "\(name)")
      // String equality forgives normal forms; the texts must be the same bytes.
      #expect(found.map { Array($0.description.utf8) } == Array(value.description.utf8), "\(name)")
    }
  }

  @Test("J4: asking for a name that occurs twice is an error that quotes it")
  func ambiguous() throws {
    let folder = "json-test-suite/test_transform"
    let document = try JSONDocument(
      Fixtures.bytes("\(folder)/object_same_key_same_value.json"))
    let error = #expect(throws: PageError.self) { try document.value(at: "/a") }
    #expect(error?.code == .shape)
    #expect(error?.message.contains("\"a\" occurs twice") == true)
    #expect(error?.message.contains("again at byte 7") == true)
  }
}
