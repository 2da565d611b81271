import CFuzzer
import Foundation
import Glibc
import QuireCore
import QuireFeeds

/// One input: a byte that chooses how, then a document.
///
/// Whatever it is, it is read as a feed or refused by a `PageError`; strict reading accepts nothing that
/// lenient reading refuses. A feed that was read survives as JSON Feed, its HTML sanitises to what sanitises
/// to itself and holds nothing that runs, and identities and digests are the same a second time.
@main
struct FeedFuzzer {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(
      LLVMFuzzerRunDriver(&count, &arguments) { data, count in
        data.map { FeedFuzzer.test($0, count) } ?? 0
      })
  }

  private static let url = "https://feed.test/folder/feed"
  private static let types = [
    nil, "application/rss+xml", "text/xml; charset=iso-8859-1", "application/json",
    "text/html; charset=utf-16", "application/xml; charset=nonsense",
  ]

  private static func test(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let (choice, bytes) = (
      Int(data[0]), Array(UnsafeBufferPointer(start: data + 1, count: count - 1))
    )
    let html = FeedOptions.HTML.allCases[choice % 3]
    let type = types[choice / 3 % types.count]
    let lenient = read(bytes, type, FeedOptions(html: html))
    let strict = read(bytes, type, FeedOptions(isStrict: true, html: html))
    if strict != nil {
      precondition(lenient != nil, "What is read strictly is read leniently.")
      precondition(lenient?.feed.repairs.isEmpty == true)
    }
    if let lenient { check(lenient) }
    dates(String(decoding: bytes, as: UTF8.self))
    _ = try? OPML(bytes)
    return 0
  }

  private static func read(
    _ bytes: [UInt8], _ type: String?, _ options: FeedOptions
  ) -> ParsedFeed? {
    do {
      return try ParsedFeed(bytes, url: url, contentType: type, options: options)
    } catch {
      precondition(error is PageError, "\(error)")
      return nil
    }
  }

  private static func check(_ parsed: ParsedFeed) {
    let sanitizer = HTMLSanitizer()
    for entry in parsed.entries {
      precondition(entry.identity == entry.identity && !entry.identity.value.isEmpty)
      precondition(entry.digest == entry.digest)
      for text in [entry.title, entry.summary, entry.content].compactMap(\.self) {
        _ = text.plain
        _ = text.withAbsoluteLinks()
        let once = sanitizer.sanitize(text.value, base: text.base)
        precondition(sanitizer.sanitize(once, base: text.base) == once, once)
        let small = once.lowercased()
        precondition(!small.contains("<script") && !small.contains("=\"javascript:"), once)
      }
      for url in [entry.url, entry.canonicalURL].compactMap(\.self) {
        precondition(!url.lowercased().hasPrefix("javascript:"), url)
      }
    }
    survive(parsed)
  }

  /// A feed and its entries are the same after being written as JSON Feed.
  private static func survive(_ parsed: ParsedFeed) {
    for var entry in parsed.entries {
      entry.raw = nil
      guard let data = try? JSONEncoder().encode(entry) else { continue }
      guard let back = try? JSONDecoder().decode(FeedEntry.self, from: data) else {
        preconditionFailure(String(decoding: data, as: UTF8.self))
      }
      precondition(back == entry, String(decoding: data, as: UTF8.self))
    }
  }

  private static func dates(_ text: String) {
    guard let date = FeedDate.read(text) else { return }
    precondition(date.timeIntervalSince1970.isFinite)
  }
}
