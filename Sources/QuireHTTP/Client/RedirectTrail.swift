import Synchronization

/// Where redirects have led a page's last request.
final class RedirectTrail: Sendable {
  private let last = Mutex<String?>(nil)

  /// The URL of the last redirect's target; nil where there was none.
  var url: String? {
    get { last.withLock { $0 } }
    set { last.withLock { $0 = newValue } }
  }
}
