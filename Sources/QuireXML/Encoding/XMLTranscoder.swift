import QuirePagination

/// A converter of a page's bytes to valid UTF-8, slice by slice.
struct XMLTranscoder {
  private var encoding: TextEncoding
  /// The encoding to read in from the first byte on that is not UTF-8, unless other text beyond ASCII
  /// came before; nil if there is none.
  private var alternative: TextEncoding?
  private let dropsControls: Bool
  private let replacesInvalid: Bool
  /// How bytes labelled windows-1252 are read, and with leniency those labelled UTF-8 or US-ASCII;
  /// nil for reading strictly by the label.
  private var western: Western?
  private var converter: SystemConverter?
  /// The incomplete character at the end of the last slice.
  private var carry: [UInt8] = []
  /// The number of characters removed, because XML does not allow them.
  private(set) var droppedControls = 0

  private enum Western {
    /// As UTF-8, whichever label they have, up to the first invalid byte.
    case unicode
    /// As windows-1252, as labelled.
    case windows1252
    /// As UTF-8, but each invalid byte as windows-1252: a character was cut in half, or comes from
    /// another source than the text around it.
    case mixed
  }

  init(
    _ encoding: TextEncoding, or alternative: TextEncoding? = nil, leniency: XMLLeniency
  ) throws(XMLFault.Reason) {
    let guesses = leniency.contains(.mislabelledEncodings)
    switch encoding {
    case .utf8, .ascii: western = guesses ? .unicode : nil
    case .windows1252: western = guesses ? .unicode : .windows1252
    default: western = nil
    }
    self.encoding = encoding
    if guesses, leniency.contains(.legacyEncodings) { self.alternative = alternative }
    dropsControls = leniency.contains(.controlCharacters)
    replacesInvalid = leniency.contains(.invalidBytes)
    converter = encoding.systemName.flatMap { SystemConverter($0) }
    if converter == nil, let name = encoding.systemName {
      throw .encoding("this system cannot convert from \(name)")
    }
  }

  /// Appends the slice to `output` as UTF-8.
  ///
  /// Throws `encoding` at the first byte that is invalid in the encoding; those before it are
  /// appended.
  mutating func convert(
    _ slice: some Collection<UInt8>, into output: inout XMLBuffer<UInt8>,
    repairs: inout XMLLeniency
  ) throws(XMLFault.Reason) {
    let start = output.count
    defer {
      let dropped = dropsControls ? UTF8Checker.dropControls(in: &output, from: start) : 0
      droppedControls += dropped
      if dropped > 0 { repairs.insert(.controlCharacters) }
    }
    switch (encoding, western) {
    case (_, .unicode): try guess(slice, into: &output, &repairs)
    case (_, .mixed): appendMixed(slice, to: &output)
    case (_, .windows1252), (.windows1252, nil): appendWindows(slice, to: &output)
    case (.ascii, nil): try appendASCII(slice, to: &output)
    case (.utf8, nil): if !append(slice, to: &output).isEmpty { throw malformed() }
    case (.utf16BigEndian, nil), (.utf16LittleEndian, nil), (.system, nil):
      carry.append(contentsOf: slice)
      var isInvalid = false
      let used = converter?.convert(
        carry, onInvalid: replacesInvalid && !encoding.isUnicode ? { isInvalid = true } : nil
      ) { output.append(contentsOf: $0) }
      guard let used else { throw malformed() }
      if isInvalid { repairs.insert(.invalidBytes) }
      carry.removeFirst(used)
    }
  }

  /// Throws `truncated` when the page ends within a character.
  func finish() throws(XMLFault.Reason) {
    if !carry.isEmpty { throw .truncated }
  }

  // MARK: UTF-8

  /// Appends the slice as long as it is UTF-8, and returns the bytes from the first invalid one on.
  private mutating func append(
    _ slice: some Collection<UInt8>, to output: inout XMLBuffer<UInt8>
  ) -> [UInt8] {
    var from = output.count
    output.append(contentsOf: carry)
    carry = []
    output.append(contentsOf: slice)
    while from < output.count {
      let end = UTF8Checker.checkedEnd(output.elements, from: from)
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
  ) throws(XMLFault.Reason) {
    for byte in slice {
      guard byte < 0x80 else { throw malformed() }
      output.append(byte)
    }
  }

  // MARK: Western

  private mutating func guess(
    _ slice: some Collection<UInt8>, into output: inout XMLBuffer<UInt8>,
    _ repairs: inout XMLLeniency
  ) throws(XMLFault.Reason) {
    let start = output.count
    let rest = append(slice, to: &output)
    let text = UnsafeBufferPointer(start: output.base + start, count: output.count - start)
    if encoding != .utf8 || alternative != nil, !text.allSatisfy({ $0 < 0x80 }) {
      if encoding != .utf8 { repairs.insert(.mislabelledEncodings) }
      alternative = nil
    }
    guard !rest.isEmpty else { return }
    if case .system(let name)? = alternative.take(), let declared = SystemConverter(name) {
      // HTTP is wrong.
      (encoding, western, converter) = (.system(name), nil, declared)
      repairs.formUnion([.mislabelledEncodings, .legacyEncodings])
      return try convert(rest, into: &output, repairs: &repairs)
    }
    // The label is right, unless some of the text before was UTF-8.
    if encoding == .windows1252, !repairs.contains(.mislabelledEncodings) {
      western = .windows1252
      return appendWindows(rest, to: &output)
    }
    western = .mixed
    repairs.insert(.mislabelledEncodings)
    appendMixed(rest, to: &output)
  }

  private func appendWindows(
    _ slice: some Collection<UInt8>, to output: inout XMLBuffer<UInt8>
  ) {
    for byte in slice { output.append(Windows1252.scalar(of: byte)) }
  }

  private mutating func appendMixed(
    _ slice: some Collection<UInt8>, to output: inout XMLBuffer<UInt8>
  ) {
    let bytes = carry + slice
    carry = bytes.withUnsafeBufferPointer { bytes in
      var index = 0
      while true {
        let end = UTF8Checker.checkedEnd(bytes, from: index)
        output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[index..<end]))
        let rest = UnsafeBufferPointer(rebasing: bytes[end...])
        guard let first = rest.first, !UTF8Checker.isStartOfCharacter(rest) else {
          return Array(rest)
        }
        output.append(Windows1252.scalar(of: first))
        index = end + 1
      }
    }
  }

  private func malformed() -> XMLFault.Reason {
    let name =
      switch encoding {
      case .utf8: "UTF-8"
      case .utf16BigEndian, .utf16LittleEndian: "UTF-16"
      case .ascii: "US-ASCII"
      case .windows1252: "windows-1252"
      case .system(let name): name
      }
    return .encoding("the next bytes are not \(name)")
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
