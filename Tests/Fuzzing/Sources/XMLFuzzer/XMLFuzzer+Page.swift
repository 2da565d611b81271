import FoundationEssentials
import QuireCore
import QuirePagination

@testable import QuireXML

/// Asks a page that is good everything that can be asked.
func checkPage(_ page: [UInt8], _ choice: Choice) {
  guard let document = try? XMLDocument(page, leniency: choice.leniency) else { return }
  for path in Choice.paths {
    do {
      _ = try document.value(at: path)
      _ = try document.value(at: path, inLastItemOf: .optional("//b"))
    } catch {
      preconditionFailure("\(path) failed: \(error)")
    }
    _ = document.count(at: path)
    _ = document.base(at: path)
  }
  let root = XMLItem(index: document.index, node: 0)
  guard (try? root.value) != nil else { preconditionFailure("The page has no JSON.") }
  // An element's own bytes are a page again, and the same one.
  guard let again = try? XMLDocument(root.bytes, leniency: choice.leniency.union(.namedCharacters)),
    (try? XMLItem(index: again.index, node: 0).value) == (try? root.value)
  else { preconditionFailure("An element's bytes say something else: \(root)") }
}

/// Reads the items at the end of the page, and as they arrive.
func checkItems(_ page: [UInt8], _ choice: Choice) {
  let texts = XMLItemPageDecoder(leniency: choice.leniency)
  let whole = items(texts, choice.slices(of: page), choice, .whole).map { $0.map(\.description) }
  let early = items(texts, choice.slices(of: page), choice, .asItArrives)
    .map { $0.map(\.description) }
  precondition(early == whole, "Early items differ: \(early) \(whole)")
}

/// Makes values of the items.
func checkValues(_ page: [UInt8], _ choice: Choice) {
  let raw = XMLRawPageDecoder(leniency: choice.leniency)
  let slices = choice.slices(of: page)
  let whole = items(raw, slices, choice, .whole).map { $0.map(\.compact) }
  let early = items(raw, slices, choice, .asItArrives).map { $0.map(\.compact) }
  precondition(early == whole, "Early values differ: \(early) \(whole)")
  // An item that does not fit is thrown where it is met, so that slices could make a difference.
  let typed = XMLPageDecoder<Everything>(leniency: choice.leniency)
  let once = items(typed, [page], choice, .asItArrives, badItems: .throw).map(\.count)
  let sliced = items(typed, slices, choice, .asItArrives, badItems: .throw).map(\.count)
  precondition(once == sliced, "Slices make a difference: \(once) \(sliced)")
}

/// The items of a page, or why it is none.
private func items<Item: Sendable>(
  _ decoder: some PageDecoder<Item>, _ slices: [[UInt8]], _ choice: Choice,
  _ delivery: PageDelivery, badItems: BadItemPolicy = .collect
) -> Result<[Item], PageError.Code> {
  do {
    var session = try decoder.begin(
      DecodingContext(items: choice.selector, badItems: badItems, delivery: delivery))
    var items: [Item] = []
    for slice in slices {
      try session.receive(slice)
      items += try session.readyItems().items
    }
    let document = try session.finish()
    let rest = try session.items()
    for bad in rest.badItems { precondition(!bad.message.isEmpty) }
    _ = try document.value(at: "//next")
    _ = try document.value(at: "/c", inLastItemOf: choice.selector)
    return .success(items + rest.items)
  } catch let error as PageError {
    return .failure(error.code)
  } catch {
    preconditionFailure("No error of a page: \(error)")
  }
}

extension PageError.Code: @retroactive Error {}

/// A type that asks for every kind of value.
private struct Everything: Decodable, Sendable {
  struct Inner: Decodable {
    var c: String
    var b: [Inner]?
  }

  enum CodingKeys: String, CodingKey {
    case a, b, c, d, e, f, g, h, text = "#text", attribute = "@c", named = "x:b"
  }

  var a: Int?
  var b: [Inner]
  var c: Double?
  var d: Date?
  var e: Data?
  var f: Bool?
  var g: [String: String]?
  var h: JSONValue?
  var text: String?
  var attribute: Decimal?
  var named: URL?
}
