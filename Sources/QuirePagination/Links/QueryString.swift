import QuireCore

/// A query string as raw parameters: changing one leaves the bytes of all others alone.
///
/// Names are compared decoded, so `page%5Bsize%5D` and `page[size]` are one parameter. A new name
/// is written as given, encoding only the characters that would end it.
package struct QueryString: Hashable, Sendable {
  /// `name=value` or `name`, as written between ampersands.
  private var parameters: [Substring]

  /// Splits a raw query, which comes without its question mark.
  package init(_ raw: String?) {
    let parts = raw?.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    parameters = parts?.map { Substring($0) } ?? []
  }

  /// The raw query; nil without parameters.
  package var raw: String? {
    parameters.isEmpty ? nil : parameters.joined(separator: "&")
  }

  /// The decoded names with their encoded values, in order; empty parameters are left out.
  package var pairs: [(name: String, encoded: String)] {
    parameters.filter { !$0.isEmpty }.map {
      (Self.name($0), String($0.drop { $0 != "=" }.dropFirst()))
    }
  }

  /// The decoded value of the first parameter called `name`.
  package subscript(name: String) -> String? {
    parameters.first { Self.name($0) == name }.map {
      PercentEncoding.decode($0.drop { $0 != "=" }.dropFirst(), plusIsSpace: true)
    }
  }

  /// Sets the encoded value of the first parameter with that name, and removes its repetitions.
  package mutating func set(_ name: String, encoded value: String) {
    let matches = parameters.indices.filter { Self.name(parameters[$0]) == name }
    guard let first = matches.first else {
      if parameters == [""] { parameters = [] }
      // The parameter fills the empty place after a trailing ampersand.
      if parameters.last == "" { parameters.removeLast() }
      parameters.append("\(Self.encode(name: name))=\(value)")
      return
    }
    let written = parameters[first].prefix { $0 != "=" }
    parameters[first] = "\(written)=\(value)"
    for index in matches.dropFirst().reversed() { parameters.remove(at: index) }
  }

  /// Returns the query with these parameters, given unencoded, in place of all parameters with
  /// their names. Empty parameters are removed.
  package func replacing(_ new: [(name: String, value: String)]) -> QueryString {
    var query = self
    let names = Set(new.map(\.name))
    query.parameters.removeAll { $0.isEmpty || names.contains(Self.name($0)) }
    query.parameters += new.map {
      "\(PercentEncoding.encode($0.name, allowing: "$[]"))=\(PercentEncoding.encode($0.value))"
    }
    return query
  }

  /// Removes the parameters whose decoded names do not pass.
  package mutating func keep(where isKept: (String) -> Bool) {
    parameters.removeAll { !isKept(Self.name($0)) }
  }

  private static func name(_ parameter: Substring) -> String {
    PercentEncoding.decode(parameter.prefix { $0 != "=" }, plusIsSpace: true)
  }

  private static func encode(name: String) -> String {
    PercentEncoding.encode(name, allowing: "!$'()*,/:;?@[]")
  }
}

/// Percent-encoding of URLs, byte by byte. Source: RFC 3986, §2.1 and §2.3.
package enum PercentEncoding {
  /// Encodes every byte that is neither unreserved nor one of the ASCII characters in `allowed`.
  package static func encode(_ text: String, allowing allowed: String = "") -> String {
    encode(bytes: text.utf8, allowing: allowed)
  }

  /// Encodes bytes that may not be UTF-8, such as those of `decodedBytes(_:plusIsSpace:)`.
  package static func encode(
    bytes: some Collection<UInt8>, allowing allowed: String = ""
  ) -> String {
    let extra = Array(allowed.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for byte in bytes {
      if isUnreserved(byte) || extra.contains(byte) {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Decodes every `%XX`, and `+` as a space if `plusIsSpace`. Stray percent signs stay.
  package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
    String(decoding: decodedBytes(text, plusIsSpace: plusIsSpace), as: UTF8.self)
  }

  /// Returns the decoded bytes, which may not be UTF-8.
  package static func decodedBytes(
    _ text: some StringProtocol, plusIsSpace: Bool = false
  ) -> [UInt8] {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = bytes[index + 1].hexadecimalDigit, let low = bytes[index + 2].hexadecimalDigit
      {
        result.append(high << 4 | low)
        index += 3
      } else {
        result.append(
          plusIsSpace && bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
        index += 1
      }
    }
    return result
  }

  /// Hashes the decoded bytes of a part of a URL, so that its encoding does not matter.
  package static func hash(
    _ part: Slice<UnsafeBufferPointer<UInt8>>, plusIsSpace: Bool = false, into hasher: inout Hasher
  ) {
    let isEncoded = part.contains {
      $0 == UInt8(ascii: "%") || plusIsSpace && $0 == UInt8(ascii: "+")
    }
    guard isEncoded else {
      hasher.combine(part.count)
      hasher.combine(bytes: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: part)))
      return
    }
    let bytes = decodedBytes(String(decoding: part, as: UTF8.self), plusIsSpace: plusIsSpace)
    hasher.combine(bytes.count)
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  private static let hex = Array("0123456789ABCDEF".utf8)

  /// Whether the byte is an unreserved character.
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

extension String {
  /// The URL with the spaces of its query as `%20`. Some services write filters into links
  /// unencoded, and every parser reads a space in a query alike.
  package var encodingBlanksOfQuery: String {
    guard utf8.contains(0x20), let mark = utf8.firstIndex(of: UInt8(ascii: "?")) else {
      return self
    }
    return String(self[..<mark]) + self[mark...].replacing(" ", with: "%20")
  }
}
