import CFuzzer
import Glibc
import QuireCore
import QuireJSON
import QuirePagination

/// One input: a byte that chooses, then a page.
///
/// Besides not crashing, what a page says has to survive being written and read again, and items
/// have to be the same by every way that leads to them.
@main
struct JSONFuzzer {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(
      LLVMFuzzerRunDriver(&count, &arguments) { data, count in
        data.map { JSONFuzzer.test($0, count) } ?? 0
      })
  }

  private static func test(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let selector = selectors[Int(data[0]) % selectors.count]
    let page = Array(UnsafeBufferPointer(start: data + 1, count: count - 1))
    if let document = try? JSONDocument(page) { check(document) }
    let raw = items(JSONRawPageDecoder(), page, selector)
    let strings = items(JSONPageDecoder<String>(), page, selector)
    if let strings {
      precondition(raw != nil && strings.count <= raw?.count ?? 0, "Items out of nothing.")
    }
    for item in raw ?? [] {
      guard let again = try? RawItem(item.compact) else {
        preconditionFailure("An item's own bytes cannot be read: \(item)")
      }
      precondition(again.compact == item.compact, "An item changes when it is read again.")
    }
    return 0
  }
}

private let selectors: [Pagination.Items] = [
  "", "/a", "/a/b", "/a[b=c]/a", .optional("/a"), .all(["/a", "/b"]), .firstOf(["/b", "/a"]),
]

private let paths: [PagePath] = ["", "/a", "/a/0", "/a/-1/b", "/a[b=c]/d", "/~0~1", "/a/b/c"]

private func check(_ document: JSONDocument) {
  for path in paths {
    // Throws for names that occur twice.
    _ = try? document.value(at: path)
    _ = try? document.count(at: path)
    _ = try? document.value(at: path, inLastItemOf: "/a")
  }
  guard let value = (try? document.value(at: "")) ?? nil else { return }
  let text = Array(value.description.utf8)
  let again = (try? JSONDocument(text)).flatMap { (try? $0.value(at: "")) ?? nil }
  precondition(again == value, "The value changes when it is written and read: \(value)")
}

/// The items of a page; nil when it is none.
private func items<Item: Sendable>(
  _ decoder: some PageDecoder<Item>, _ page: [UInt8], _ selector: Pagination.Items
) -> [Item]? {
  do {
    var session = try decoder.begin(
      DecodingContext(items: selector, badItems: .collect, delivery: .asItArrives))
    try session.receive(Array(page.prefix(page.count / 2)))
    try session.receive(Array(page.dropFirst(page.count / 2)))
    _ = try session.finish()
    return try session.items().items
  } catch {
    return nil
  }
}
