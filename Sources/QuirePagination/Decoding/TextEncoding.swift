#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An encoding that a page may have. The list is closed: the system knows hundreds, some of them
/// dangerous to decode.
package enum TextEncoding: Hashable {
  case utf8, utf16BigEndian, utf16LittleEndian, ascii
  /// Windows-1252. Pages labelled ISO-8859-1 are decoded with it, too.
  case windows1252
  /// An encoding that iconv decodes, by the name that iconv has for it.
  case system(String)

  /// Creates the encoding with a label, as the WHATWG's Encoding standard reads it; nil for any
  /// other label. But `utf-16` is big-endian (RFC 2781, section 4.3), and `us-ascii` is ASCII.
  package init?(label: String) {
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

  package var isUnicode: Bool {
    switch self {
    case .utf8, .utf16BigEndian, .utf16LittleEndian, .ascii: true
    case .windows1252, .system: false
    }
  }

  /// The name that iconv has for the encoding; nil for one that is not decoded by it.
  package var systemName: String? {
    switch self {
    case .utf8, .ascii, .windows1252: nil
    case .utf16BigEndian: "UTF-16BE"
    case .utf16LittleEndian: "UTF-16LE"
    case .system(let name): name
    }
  }

  package var isASCIICompatible: Bool { self != .utf16BigEndian && self != .utf16LittleEndian }

  /// Returns a whole text in UTF-8; nil if it is invalid in this encoding, or if the system does
  /// not know the encoding. ASCII and UTF-8 are copied unchecked: their reader validates them.
  package func utf8(of text: ArraySlice<UInt8>) -> [UInt8]? {
    switch self {
    case .utf8, .ascii: return Array(text)
    case .windows1252:
      var output: [UInt8] = []
      output.reserveCapacity(text.count + text.count / 8)
      for byte in text {
        if byte < 0x80 {
          output.append(byte)
        } else {
          output += UTF8.encode(Windows1252.scalar(of: byte)) ?? UTF8.encodedReplacementCharacter
        }
      }
      return output
    case .utf16BigEndian, .utf16LittleEndian, .system: break
    }
    var output: [UInt8] = []
    output.reserveCapacity(text.count + text.count / 2)
    let used = systemName.flatMap { SystemConverter($0) }?.convert(Array(text)) { output += $0 }
    return used == text.count ? output : nil
  }

  private static let systemNames: [String: String] = {
    var names: [String: String] = [
      "koi8-r": "KOI8-R", "koi8-u": "KOI8-U", "ibm866": "CP866", "cp866": "CP866",
      "tis-620": "CP874", "shift_jis": "CP932", "shift-jis": "CP932", "sjis": "CP932",
      "x-sjis": "CP932", "windows-31j": "CP932", "euc-jp": "EUC-JP", "iso-2022-jp": "ISO-2022-JP",
      "gb2312": "GBK", "gbk": "GBK", "gb18030": "GB18030", "big5": "BIG5",
      "big5-hkscs": "BIG5-HKSCS",
      "euc-kr": "CP949", "ks_c_5601-1987": "CP949", "iso-8859-9": "CP1254", "latin5": "CP1254",
      "windows-949": "CP949", "cp932": "CP932", "x-euc-jp": "EUC-JP", "x-gbk": "GBK",
      "x-x-big5": "BIG5", "koi": "KOI8-R", "koi8_r": "KOI8-R", "latin2": "ISO-8859-2",
      "iso-8859-11": "CP874", "iso-8859-8-i": "ISO-8859-8", "macintosh": "MACINTOSH",
      "x-mac-roman": "MACINTOSH",
    ]
    for part in [2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16] {
      names["iso-8859-\(part)"] = "ISO-8859-\(part)"
    }
    for page in [874, 1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258] {
      names["windows-\(page)"] = "CP\(page)"
      names["cp\(page)"] = "CP\(page)"
      names["x-cp\(page)"] = "CP\(page)"
    }
    return names
  }()
}

/// A converter from one encoding to UTF-8, by iconv. It keeps the shift state of encodings that
/// have one, so each parser needs its own.
package final class SystemConverter {
  private let descriptor: iconv_t

  /// Creates a converter; nil if the system does not know the encoding.
  package init?(_ encoding: String) {
    guard let descriptor = iconv_open("UTF-8", encoding), descriptor != iconv_t(bitPattern: -1)
    else { return nil }
    self.descriptor = descriptor
  }

  deinit { iconv_close(descriptor) }

  /// Passes the converted bytes to `output`, and returns how many bytes were complete characters.
  /// For an invalid byte it returns nil, or with `onInvalid`, calls that and writes U+FFFD instead.
  package func convert(
    _ bytes: [UInt8], onInvalid: (() -> Void)? = nil,
    _ output: (UnsafeBufferPointer<UInt8>) -> Void
  ) -> Int? {
    var input = bytes.map { CChar(bitPattern: $0) }
    var room = [CChar](repeating: 0, count: 4 << 10)
    var used = 0
    while used < input.count {
      var left = input.count - used
      var space = room.count
      let (result, failure) = input.withUnsafeMutableBufferPointer { input in
        room.withUnsafeMutableBufferPointer { room in
          var from = input.baseAddress.map { $0 + used }
          var to = room.baseAddress
          errno = 0
          return (iconv(descriptor, &from, &left, &to, &space), errno)
        }
      }
      room[..<(room.count - space)].withUnsafeBytes { bytes in
        bytes.withMemoryRebound(to: UInt8.self) { output($0) }
      }
      used = input.count - left
      if result == Int(bitPattern: UInt.max), failure != E2BIG {
        if failure == EINVAL { return used }
        guard let onInvalid else { return nil }
        onInvalid()
        Array("\u{FFFD}".utf8).withUnsafeBufferPointer { output($0) }
        used += 1
      }
    }
    return used
  }
}

/// Windows-1252: Latin-1 with printable characters in place of the controls from 0x80 to 0x9F.
///
/// Source: the WHATWG's Encoding standard, index windows-1252.
package enum Windows1252 {
  @usableFromInline package static let upper: [UInt16] = [
    0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039,
    0x152, 0x8D, 0x17D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC,
    0x2122, 0x161, 0x203A, 0x153, 0x9D, 0x17E, 0x178,
  ]

  @inlinable package static func scalar(of byte: UInt8) -> Unicode.Scalar {
    guard 0x80...0x9F ~= byte else { return Unicode.Scalar(byte) }
    return Unicode.Scalar(upper[Int(byte) - 0x80]) ?? "\u{FFFD}"
  }
}
