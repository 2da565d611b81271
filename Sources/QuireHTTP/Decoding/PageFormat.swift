import Synchronization

/// A format that pages are written in.
public enum PageFormat: String, Hashable, Codable, Sendable, CaseIterable {
  /// JSON (RFC 8259).
  case json
  /// XML 1.0.
  case xml

  /// The name in a sentence.
  var words: String { self == .json ? "JSON" : "XML" }
}

/// A place where a decoder notes the format that a page came in.
package final class PageFormatNote: Sendable {
  private let state = Mutex<PageFormat?>(nil)

  package init() {}

  /// The format, once it is known.
  package var format: PageFormat? { state.withLock { $0 } }

  /// Notes a format where there is none yet.
  package func bind(_ format: PageFormat?) {
    state.withLock { $0 = $0 ?? format }
  }
}
