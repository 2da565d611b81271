import QuireCore
import QuirePagination

/// Finds out a page's encoding, and turns its bytes into checked UTF-8.
///
/// A byte order mark comes before what HTTP says, and that before the page's own declaration
/// (RFC 7303, section 3.2). Ours, because libxml2 lets the declaration win, and takes any encoding
/// the system's iconv knows.
struct XMLInput {
  private enum Stage {
    /// The bytes so far, too few to tell.
    case sniffing([UInt8])
    case reading(XMLTranscoder)
  }

  private let charset: String?
  private let leniency: XMLLeniency
  private var stage = Stage.sniffing([])
  private var lineEnds = LineEnds()
  /// The breaches that leniency accepted.
  private(set) var repairs: XMLLeniency = []

  /// Characters left out, because XML does not have them.
  var droppedControls: Int {
    guard case .reading(let transcoder) = stage else { return 0 }
    return transcoder.droppedControls
  }

  /// The breaches that leniency accepted, and how often.
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
      let space = rest.prefix(64).prefix(while: XMLText.isSpace)
      if !space.isEmpty {
        rest = rest[space.endIndex...]
        repairs.insert(.leadingWhiteSpace)
      }
    }
    var transcoder = try XMLTranscoder(finding.encoding, leniency: leniency)
    let start = output.count
    defer {
      stage = .reading(transcoder)
      lineEnds.unify(in: &output, from: start)
    }
    try transcoder.convert(rest, into: &output, repairs: &repairs)
  }
}
