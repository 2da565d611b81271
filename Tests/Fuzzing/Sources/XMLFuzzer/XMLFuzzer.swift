import CFuzzer
import Glibc
import QuireCore
import QuirePagination

@testable import QuireXML

/// One input: two bytes that choose, then a page.
///
/// Besides not crashing, a page has to say the same however it is sliced, and to have the same
/// items whether they are handed out early or at its end.
@main
struct XMLFuzzer {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(
      LLVMFuzzerRunDriver(&count, &arguments) { data, count in
        data.map { XMLFuzzer.test($0, count) } ?? 0
      })
  }

  private static func test(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 2 else { return 0 }
    let choice = Choice(data[0], data[1])
    let page = Array(UnsafeBufferPointer(start: data + 2, count: count - 2))
    switch choice.check {
    case .slices:
      let whole = Outcome(of: [page], choice)
      let sliced = Outcome(of: choice.slices(of: page), choice)
      precondition(whole == sliced, "Slices make a difference: \(whole) \(sliced)")
    case .page: checkPage(page, choice)
    case .items: checkItems(page, choice)
    case .values: checkValues(page, choice)
    }
    return 0
  }
}

/// How a page is read.
struct Choice {
  let leniency: XMLLeniency
  let selector: Pagination.Items
  let check: Check
  private let seed: UInt64

  /// What is looked at: all of it at once would make one page slow.
  enum Check: UInt8 { case slices, page, items, values }

  init(_ first: UInt8, _ second: UInt8) {
    leniency = first & 1 == 0 ? [] : .feed
    selector = Self.selectors[Int(first >> 1) % Self.selectors.count]
    check = Check(rawValue: second >> 6) ?? .slices
    seed = UInt64(second & 63)
  }

  private static let selectors: [Pagination.Items] = [
    "/a/b", "//b", "", "/*/*", "/a/b[@c='1']", "//{u}b", "/a", .optional("/a/c/b"), "/a/b[last()]",
    "/a/b[c='1']", .all(["/a/b", "/a/c"]), .firstOf(["/x", "/a/b"]), "//a/b[2]", "/a/b/@c",
  ]

  static let paths: [PagePath] = [
    "//next", "/a/@b", "//@c", "/a/b[2]/text()", "//b[@c='1']/c", "/a/b[last()]", "/a/*[c='1']/@*",
    "//*[c/@b='1']", "//{u}b", "", "/a/c",
  ]

  /// The page in pieces of lengths that the seed leads to.
  func slices(of page: [UInt8]) -> [[UInt8]] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    var slices: [[UInt8]] = []
    var start = 0
    while start < page.count {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      let end = min(page.count, start + 1 + Int(state >> 56) % (seed == 0 ? 1 : Int(seed)))
      slices.append(Array(page[start..<end]))
      start = end
    }
    return slices
  }
}

/// What a page is, as far as slices must not change it.
enum Outcome: Equatable {
  case events([String])
  case failure(PageError.Code)

  init(of slices: [[UInt8]], _ choice: Choice) {
    do {
      let parser = try XMLPushParser(leniency: choice.leniency)
      do throws(XMLFault) {
        for slice in slices { try parser.receive(slice) }
        try parser.finish()
        self = .events(Self.events(in: parser.takeIndex()))
      } catch {
        self = .failure(error.pageError.code)
      }
    } catch {
      preconditionFailure("A parser could not be made: \(error)")
    }
  }

  private static func events(in index: XMLIndex) -> [String] {
    index.records.indices.map { node in
      let record = index.records[node]
      let name = index.names[record.name]
      switch record.kind {
      case .text, .composedText: return "text \(index.string(of: node))"
      case .space, .composedSpace: return "space \(index.string(of: node))"
      case .element: return "\(name) \(record.parent) \(record.next) \(index.string(of: node))"
      case .attribute, .composedAttribute: return "\(name)=\(index.string(of: node))"
      case .namespace: return "\(name.local)=\(index.string(of: node))"
      }
    }
  }
}
