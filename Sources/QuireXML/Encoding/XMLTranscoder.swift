/// Turns the bytes of a page into checked UTF-8, slice by slice.
struct XMLTranscoder {
  private let encoding: XMLEncoding
  private let dropsControls: Bool
  private let replacesInvalid: Bool
  /// Whether to read UTF-8 as long as the bytes are, despite the label, and windows-1252 from then on.
  private var isGuessing: Bool
  private let converter: SystemConverter?
  /// The start of a character that the last slice did not finish.
  private var carry: [UInt8] = []
  /// Characters left out, because XML does not have them.
  private(set) var droppedControls = 0

  init(_ encoding: XMLEncoding, leniency: XMLLeniency) throws(XMLInput.Failure) {
    let isWestern = encoding == .utf8 || encoding == .ascii || encoding == .windows1252
    isGuessing = isWestern && leniency.contains(.mislabelledEncodings)
    self.encoding = encoding
    dropsControls = leniency.contains(.controlCharacters)
    replacesInvalid = leniency.contains(.invalidBytes)
    guard case .system(let name) = encoding else {
      converter = nil
      return
    }
    converter = SystemConverter(name)
    if converter == nil {
      throw XMLInput.Failure(reason: .encoding("this system cannot convert from \(name)"))
    }
  }

  /// Appends the slice to `output`.
  ///
  /// Throws when it does not hold what the encoding says; everything before is appended.
  mutating func convert(
    _ slice: some Collection<UInt8>, into output: inout XMLBuffer<UInt8>,
    repairs: inout XMLLeniency
  ) throws(XMLInput.Failure) {
    let start = output.count
    defer {
      let dropped = dropsControls ? UTF8Checker.dropControls(in: &output, from: start) : 0
      droppedControls += dropped
      if dropped > 0 { repairs.insert(.controlCharacters) }
    }
    switch encoding {
    case .utf8, .ascii, .windows1252:
      if isGuessing {
        guess(slice, into: &output, &repairs)
      } else if repairs.contains(.mislabelledEncodings) || encoding == .windows1252 {
        appendWestern(slice, to: &output)
      } else if encoding == .ascii {
        try appendASCII(slice, to: &output)
      } else if !append(slice, to: &output).isEmpty {
        throw malformed()
      }
    case .utf16BigEndian, .utf16LittleEndian: try appendUTF16(slice, to: &output)
    case .system:
      carry.append(contentsOf: slice)
      var isInvalid = false
      let used = converter?.convert(
        carry, into: &output, onInvalid: replacesInvalid ? { isInvalid = true } : nil)
      guard let used else { throw malformed() }
      if isInvalid { repairs.insert(.invalidBytes) }
      carry.removeFirst(used)
    }
  }

  /// Throws `truncated` when the page ends within a character.
  func finish() throws(XMLInput.Failure) {
    if !carry.isEmpty { throw XMLInput.Failure(reason: .truncated) }
  }

  // MARK: UTF-8

  /// Appends what is UTF-8, and returns what is not and what follows it.
  private mutating func append(
    _ slice: some Collection<UInt8>, to output: inout XMLBuffer<UInt8>
  ) -> [UInt8] {
    var from = output.count
    output.append(contentsOf: carry)
    carry = []
    output.append(contentsOf: slice)
    while from < output.count {
      let end = UTF8Checker.checkedEnd(
        UnsafeBufferPointer(start: output.base, count: output.count), from: from)
      let rest = output.count - end
      if rest == 0 { break }
      let tail = UnsafeBufferPointer(start: output.base + end, count: rest)
      let left = Array(tail)
      let isStart = UTF8Checker.isStartOfCharacter(tail)
      output.removeLast(rest)
      guard isStart else { return left }
      carry = left
      from = output.count
    }
    return []
  }

  private func appendASCII(
    _ slice: some Collection<UInt8>, to output: inout XMLBuffer<UInt8>
  ) throws(XMLInput.Failure) {
    for byte in slice {
      guard byte < 0x80 else { throw malformed() }
      output.append(byte)
    }
  }

  // MARK: Western

  private mutating func guess(
    _ slice: some Collection<UInt8>, into output: inout XMLBuffer<UInt8>,
    _ repairs: inout XMLLeniency
  ) {
    let start = output.count
    let rest = append(slice, to: &output)
    let text = UnsafeBufferPointer(start: output.base + start, count: output.count - start)
    if encoding != .utf8, !text.allSatisfy({ $0 < 0x80 }) { repairs.insert(.mislabelledEncodings) }
    guard !rest.isEmpty else { return }
    isGuessing = false
    if encoding != .windows1252 { repairs.insert(.mislabelledEncodings) }
    appendWestern(rest, to: &output)
  }

  private func appendWestern(
    _ slice: some Collection<UInt8>, to output: inout XMLBuffer<UInt8>
  ) {
    for byte in slice { output.append(Windows1252.scalar(of: byte)) }
  }

  // MARK: UTF-16

  private mutating func appendUTF16(
    _ slice: some Collection<UInt8>, to output: inout XMLBuffer<UInt8>
  ) throws(XMLInput.Failure) {
    carry.append(contentsOf: slice)
    var index = 0
    while index + 1 < carry.count {
      let unit = self.unit(at: index)
      if unit & 0xF800 != 0xD800 {
        if let scalar = Unicode.Scalar(unit) { output.append(scalar) }
        index += 2
        continue
      }
      guard unit < 0xDC00 else { throw malformed() }
      guard index + 3 < carry.count else { break }
      let low = self.unit(at: index + 2)
      let code = 0x10000 + UInt32(unit & 0x3FF) << 10 + UInt32(low & 0x3FF)
      guard low & 0xFC00 == 0xDC00, let scalar = Unicode.Scalar(code) else { throw malformed() }
      output.append(scalar)
      index += 4
    }
    carry.removeFirst(index)
  }

  private func unit(at index: Int) -> UInt16 {
    let (first, second) = (UInt16(carry[index]), UInt16(carry[index + 1]))
    return encoding == .utf16BigEndian ? first << 8 | second : second << 8 | first
  }

  private func malformed() -> XMLInput.Failure {
    let name =
      switch encoding {
      case .utf8: "UTF-8"
      case .utf16BigEndian, .utf16LittleEndian: "UTF-16"
      case .ascii: "US-ASCII"
      case .windows1252: "windows-1252"
      case .system(let name): name
      }
    return XMLInput.Failure(reason: .encoding("the next bytes are not \(name)"))
  }
}

extension XMLBuffer<UInt8> {
  mutating func append(contentsOf bytes: some Collection<UInt8>) {
    let isDone: Void? = bytes.withContiguousStorageIfAvailable {
      if let base = $0.baseAddress { append(base, count: $0.count) }
    }
    if isDone == nil { for byte in bytes { append(byte) } }
  }

  mutating func append(_ scalar: Unicode.Scalar) {
    for unit in UTF8.encode(scalar)?.makeIterator()
      ?? UTF8.encodedReplacementCharacter.makeIterator()
    { append(unit) }
  }
}
