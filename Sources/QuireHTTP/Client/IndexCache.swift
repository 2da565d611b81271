import QuireCore
import Synchronization

/// The indexes that the walks of a listing are in the middle of, by their addresses.
final class IndexCache: Sendable {
  private let lists = Mutex<[String: [String]]>([:])

  /// What is known; an index that nobody is in the middle of is forgotten when another one comes.
  var all: [String: [String]] { lists.withLock { $0 } }

  func store(_ list: [String], at url: String, keeping urls: [String]) {
    lists.withLock { lists in
      lists = lists.filter { urls.contains($0.key) }
      lists[url] = list
    }
  }
}
