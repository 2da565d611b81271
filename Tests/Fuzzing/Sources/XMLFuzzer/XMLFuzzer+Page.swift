import FoundationEssentials
import QuireCore
import QuireHTTP

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
  let whole = items(texts, page, choice, .whole)
  let early = items(texts, page, choice, .asItArrives)
  if let whole {
    precondition(early?.map(\.description) == whole.map(\.description), "Early items differ.")
  } else {
    precondition(early == nil, "A page that is none has items.")
  }
}

/// Makes values of the items.
func checkValues(_ page: [UInt8], _ choice: Choice) {
  let whole = items(XMLRawPageDecoder(leniency: choice.leniency), page, choice, .whole)
  let early = items(XMLRawPageDecoder(leniency: choice.leniency), page, choice, .asItArrives)
  precondition(early?.map(\.compact) == whole?.map(\.compact), "Early values differ.")
  _ = items(XMLPageDecoder<Everything>(leniency: choice.leniency), page, choice, .asItArrives)
}

/// The items of a page; nil when it is none.
private func items<Item: Sendable>(
  _ decoder: some PageDecoder<Item>, _ page: [UInt8], _ choice: Choice, _ delivery: PageDelivery
) -> [Item]? {
  do {
    var session = try decoder.begin(
      DecodingContext(items: choice.selector, badItems: .collect, delivery: delivery))
    var items: [Item] = []
    for slice in choice.slices(of: page) {
      try session.receive(slice)
      items += try session.readyItems().items
    }
    let document = try session.finish()
    let rest = try session.items()
    for bad in rest.badItems { precondition(!bad.message.isEmpty) }
    _ = try document.value(at: "//next")
    _ = try document.value(at: "/c", inLastItemOf: choice.selector)
    return items + rest.items
  } catch {
    return nil
  }
}

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
