import QuireCore
import QuireHTTP

/// Removes a declared coding, and a second layer of gzip where the content is a gzip file: servers
/// compress `sitemap.xml.gz` once more. A third layer is left to the page's decoder to refuse.
struct NestedInflater: ~Copyable {
  private var outer: ContentInflater
  private var inner: ContentInflater?
  private let limits: TransferLimits
  /// The first content, while it is too short to tell whether it is a gzip file; nil once that is
  /// known.
  private var start: [UInt8]? = []

  init(_ outer: consuming ContentInflater, limits: TransferLimits) {
    self.outer = outer
    self.limits = limits
  }

  /// Whether all streams have ended, and all of their content was delivered.
  var isDrained: Bool {
    guard outer.isDrained, start?.isEmpty ?? true else { return false }
    switch inner {
    case .some(let inner): return inner.isDrained
    case nil: return true
    }
  }

  /// Takes wire bytes, which follow those not consumed yet.
  mutating func receive(_ bytes: [UInt8]) { outer.receive(bytes) }

  /// Returns the next slice; nil if more wire bytes are needed.
  mutating func next() throws(PageError) -> [UInt8]? {
    while true {
      if let slice = try inner?.next() { return slice }
      guard var slice = try outer.next() else { return nil }
      if let earlier = start {
        slice = earlier + slice
        let isGzip = BodyDecoder.magic.starts(with: slice.prefix(BodyDecoder.magic.count))
        start = isGzip && slice.count < BodyDecoder.magic.count ? slice : nil
        guard start == nil else { continue }
        if isGzip { inner = try ContentInflater(.gzip, limits: limits) }
      }
      guard inner != nil else { return slice }
      inner?.receive(slice)
    }
  }

  /// Checks that nothing is missing, once the transfer has ended.
  func finish() throws(PageError) {
    try outer.finish()
    switch inner {
    case .some(let inner): try inner.finish()
    case nil: break
    }
    guard start?.isEmpty ?? true else { throw BodyDecoder.cutMagic }
  }
}
