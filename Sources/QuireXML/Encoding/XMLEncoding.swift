/// The encodings that a page may come in. A closed list: the system knows hundreds, some of them
/// dangerous to decode.
enum XMLEncoding: Hashable {
  case utf8, utf16BigEndian, utf16LittleEndian, ascii
  /// Also what pages mean that say ISO-8859-1.
  case windows1252
  /// An encoding that iconv decodes, by the name that it has there.
  case system(String)

  /// The encoding of a label, as the WHATWG's Encoding standard reads it; nil for any other.
  init?(label: String) {
    let label = label.filter { $0 != " " && $0 != "\"" && $0 != "'" }.lowercased()
    switch label {
    case "utf-8", "utf8": self = .utf8
    case "utf-16", "utf-16be", "utf16": self = .utf16BigEndian
    case "utf-16le": self = .utf16LittleEndian
    case "us-ascii", "ascii": self = .ascii
    case "iso-8859-1", "iso8859-1", "latin1", "l1", "windows-1252", "cp1252", "x-cp1252":
      self = .windows1252
    default:
      guard let name = Self.systemNames[label] else { return nil }
      self = .system(name)
    }
  }

  var isUnicode: Bool {
    switch self {
    case .utf8, .utf16BigEndian, .utf16LittleEndian, .ascii: true
    case .windows1252, .system: false
    }
  }

  var isASCIICompatible: Bool { self != .utf16BigEndian && self != .utf16LittleEndian }

  private static let systemNames: [String: String] = {
    var names: [String: String] = [
      "koi8-r": "KOI8-R", "koi8-u": "KOI8-U", "ibm866": "CP866", "cp866": "CP866",
      "tis-620": "CP874", "shift_jis": "CP932", "shift-jis": "CP932", "sjis": "CP932",
      "x-sjis": "CP932", "windows-31j": "CP932", "euc-jp": "EUC-JP", "iso-2022-jp": "ISO-2022-JP",
      "gb2312": "GBK", "gbk": "GBK", "gb18030": "GB18030", "big5": "BIG5",
      "big5-hkscs": "BIG5-HKSCS",
      "euc-kr": "CP949", "ks_c_5601-1987": "CP949", "iso-8859-9": "CP1254", "latin5": "CP1254",
    ]
    for part in [2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16] {
      names["iso-8859-\(part)"] = "ISO-8859-\(part)"
    }
    for page in [874, 1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258] {
      names["windows-\(page)"] = "CP\(page)"
      names["cp\(page)"] = "CP\(page)"
    }
    return names
  }()
}
