import QuireCore
import QuirePagination

/// A converter of a page's bytes to valid UTF-8, which first determines their encoding.
///
/// A byte order mark counts before the charset of HTTP, and that before the page's own declaration
/// (RFC 7303, section 3.2); with leniency not where HTTP says UTF-8 and is wrong. This is not left to
/// libxml2, which prefers the declaration, and accepts any encoding that the system's iconv knows.
struct XMLInput {
  private enum Stage {
    /// The bytes so far, too few to determine the encoding.
    case sniffing([UInt8])
    case reading(XMLTranscoder)
  }

  private let charset: String?
  private let leniency: XMLLeniency
  private var stage = Stage.sniffing([])
  private var lineEnds = LineEnds()
  /// The breaches that leniency accepted.
  private(set) var repairs: XMLLeniency = []

  /// The number of characters removed, because XML does not allow them.
  var droppedControls: Int {
    guard case .reading(let transcoder) = stage else { return 0 }
    return transcoder.droppedControls
  }

  /// The breaches that leniency accepted, with their number; 1 for a kind that is not counted.
  var repairCounts: [(breach: XMLLeniency, count: Int)] {
    XMLLeniency.all.filter { repairs.contains($0) }.map {
      (breach: $0, count: $0 == .controlCharacters ? droppedControls : 1)
    }
  }

  init(charset: String?, leniency: XMLLeniency) {
    self.charset = charset
    self.leniency = leniency
  }

  mutating func receive(
    _ slice: some Collection<UInt8>, into output: inout XMLBuffer<UInt8>
  ) throws(XMLFault.Reason) {
    switch stage {
    case .reading(var transcoder):
      stage = .sniffing([])
      defer { stage = .reading(transcoder) }
      let start = output.count
      defer { lineEnds.unify(in: &output, from: start) }
      try transcoder.convert(slice, into: &output, repairs: &repairs)
    case .sniffing(var head):
      head.append(contentsOf: slice)
      stage = .sniffing(head)
      if XMLSniffer.needsMore(head) { return }
      try start(head, into: &output)
    }
  }

  mutating func finish(into output: inout XMLBuffer<UInt8>) throws(XMLFault.Reason) {
    if case .sniffing(let head) = stage { try start(head, into: &output) }
    if case .reading(let transcoder) = stage { try transcoder.finish() }
  }

  private mutating func start(
    _ head: [UInt8], into output: inout XMLBuffer<UInt8>
  ) throws(XMLFault.Reason) {
    let finding = try XMLSniffer.encoding(of: head, charset: charset)
    guard finding.encoding.isUnicode || leniency.contains(.legacyEncodings) else {
      throw .encoding(
        "the encoding is \(ServerText(finding.label)), but only UTF-8, UTF-16 and US-ASCII are accepted; to "
          + "accept others, use XMLLeniency.legacyEncodings")
    }
    if !finding.encoding.isUnicode { repairs.insert(.legacyEncodings) }
    var rest = head[finding.markLength...]
    if leniency.contains(.leadingWhiteSpace), finding.encoding.isASCIICompatible {
      let space = rest.prefix(64).prefix(while: \.isWhiteSpace)
      if !space.isEmpty {
        rest = rest[space.endIndex...]
        repairs.insert(.leadingWhiteSpace)
      }
    }
    var transcoder = try XMLTranscoder(
      finding.encoding, or: finding.alternative, leniency: leniency)
    let start = output.count
    defer {
      stage = .reading(transcoder)
      lineEnds.unify(in: &output, from: start)
    }
    try transcoder.convert(rest, into: &output, repairs: &repairs)
  }
}
