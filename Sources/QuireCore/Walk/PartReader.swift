import Synchronization

/// Reads pages in parts, and keeps the page that is open between two reads.
final class PartReader<Source: PartedPageSource>: PageReader {
  private struct Open: Sendable {
    /// Where the next part starts.
    var position: Position
    var parts: any PageParts<Source.Item>
  }

  private let source: Source
  let identity: ListingIdentity?
  private let open = Mutex<Open?>(nil)

  private let audit: WalkAudit?

  init(source: Source, audit: WalkAudit? = nil) {
    self.source = source
    self.audit = audit
    identity = (source as? any IdentifiedPageSource)?.identity
  }

  @concurrent func read(at position: Position) async throws -> Page<Source.Item>? {
    let parts = try take(at: position) ?? source.parts(at: position)
    var part: Page<Source.Item>?
    do {
      part = try await parts.next()
    } catch {
      // It knows what was handed out, so it is the one to ask again.
      keep(parts, at: position)
      throw error
    }
    if let part { audit?.saw(part.head, part.items.count) }
    part?.position = position
    if let identity { part?.belong(to: identity) }
    if let count = part?.items.count { part?.traffic.items = count }
    if let part, part.hasMoreParts, let next = part.next { keep(parts, at: next) }
    return part
  }

  /// The open page, if that is where its next part starts.
  private func take(at position: Position) -> (any PageParts<Source.Item>)? {
    open.withLock { open in
      defer { open = nil }
      return open.flatMap { $0.position == position ? $0.parts : nil }
    }
  }

  private func keep(_ parts: any PageParts<Source.Item>, at position: Position) {
    open.withLock { $0 = Open(position: position, parts: parts) }
  }

  func copy() -> any PageReader<Source.Item> { PartReader(source: source, audit: audit) }
  func warnings(for end: WalkReport.End) -> [WalkReport.Warning] { audit?.warnings(end) ?? [] }
  func leave() { open.withLock { $0 = nil } }
  func identity(of position: Position) -> Int {
    (source as? any RequestingSource)?.identity(of: position) ?? position.hashValue
  }

  func close(at position: Position?) async { await source.close(at: position?.page) }
  var needsClosing: Bool { source.needsClosing }
  var repeatedPositions: RepeatedPositions { source.repeatedPositions }
  var allowsLookAhead: Bool { source.allowsLookAhead }
}
