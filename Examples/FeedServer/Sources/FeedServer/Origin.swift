import Foundation
import HTTPTypes
import Hummingbird

/// Serves fifty feeds as publishers write them: in every format, some broken, some hostile, some
/// with several pages.
struct Origin: Sendable {
  private static let topics = [
    "Harbour", "Telescope", "Bakery", "Glacier", "Compiler", "Orchard", "Railway", "Archive",
    "Lighthouse", "Workshop",
  ]
  /// The form of each feed, by the last digit of its number.
  private static let habits: [Habit] = [
    .rss, .atom, .json, .rdf, .rss, .atom, .paged, .json, .broken, .hostile,
  ]

  /// The forms in which feeds are written.
  private enum Habit {
    case rss, atom, json, rdf, paged, broken, hostile
  }

  /// Returns the subscriptions as OPML, with a folder for each topic.
  func list(port: Int) -> String {
    let outlines = (0..<50).map { number in
      "<outline text=\"\(Self.topics[number % 10])\"><outline text=\"\(Self.name(number))\" "
        + "xmlUrl=\"http://127.0.0.1:\(port)/\(number)\"/></outline>"
    }.joined()
    return
      "<opml version=\"2.0\"><head><title>The example</title></head><body>\(outlines)</body></opml>"
  }

  var router: Router<BasicRequestContext> {
    let router = Router()
    router.get(":number") { request, context in
      guard let number = context.parameters.get("number").flatMap({ Int($0) }), 0..<50 ~= number
      else { throw HTTPError(.notFound) }
      let page = request.uri.queryParameters["page"].flatMap { Int($0) } ?? 1
      let (body, mediaType) = Self.document(number, page: max(1, page))
      let tag = "\"\(number)-\(page)-1\""
      guard request.headers[.ifNoneMatch] != tag else {
        return Response(status: .notModified, headers: [.eTag: tag])
      }
      return Response(
        status: .ok, headers: [.contentType: mediaType, .eTag: tag],
        body: .init(byteBuffer: ByteBuffer(string: body)))
    }
    return router
  }

  private static func name(_ number: Int) -> String {
    "\(topics[number % 10]) \(["Notes", "Weekly", "Journal", "Digest", "Log"][number / 10])"
  }

  /// The content of an entry. The newest entry was published on 20 November 2026.
  private struct Item {
    var id: String
    var title: String
    var text: String
    var date: Date
    var link: String
  }

  private static let subjects = [
    "A slow morning in March", "What the new instruments show", "Twelve letters from readers",
    "The map that was wrong", "Notes from the night shift", "How we measure what we cannot see",
    "An hour with the apprentices", "Three things that broke this week", "The long way round",
    "Why the old method still wins",
  ]
  private static let sentences = [
    "Fog until nine, then a light wind from the west & nobody in a hurry.",
    "The first readings differ from last year's by less than anybody had expected.",
    "Most of you asked the same question, and the answer is shorter than the question.",
    "We walked it twice before we believed it; the drawing has been corrected since.",
    "Between two and four nothing moves, and that is when the small things are found.",
    "A ruler, a bucket and patience: the method is older than all of us together.",
    "They learn in a week what took us a season, and they ask better questions.",
    "Two of the three were repaired with string. The third is the subject of this note.",
    "It costs a day more and saves a night's worry, which is a good trade in any weather.",
    "New tools are faster. They are also wrong more often, and say so less often.",
  ]

  private static func items(_ number: Int, _ range: Range<Int>) -> [Item] {
    range.map { index in
      let topic = topics[number % 10]
      let hours = Double(index * 31 + number * 7 % 29) + Double(number) / 60
      let choice = (index * 3 + number * 7) % 10
      let round = index < 10 ? "" : ", part \(index / 10 + 1)"
      return Item(
        id: "urn:example:\(number):\(index)", title: subjects[choice] + round,
        text: "\(topic): \(sentences[choice]) \(sentences[(choice + number % 9 + 1) % 10])",
        date: Date(timeIntervalSince1970: 1_795_168_800 - hours * 3_600),
        link: "https://\(topic.lowercased()).example/\(number)/\(40 - index)")
    }
  }

  private static func document(_ number: Int, page: Int) -> (body: String, mediaType: String) {
    let first = items(number, 0..<8)
    switch habits[number % 10] {
    case .rss: return (rss(number, first), "application/rss+xml")
    case .atom: return (atom(number, first, next: nil), "application/atom+xml")
    case .json: return (json(number, first), "application/feed+json")
    case .rdf: return (rdf(number, first), "application/rdf+xml")
    case .paged:
      // Five pages of eight entries (RFC 5005).
      let range = min(page - 1, 4) * 8..<min(page, 5) * 8
      let next = page < 5 ? "/\(number)?page=\(page + 1)" : nil
      return (atom(number, items(number, range), next: next), "application/atom+xml")
    case .broken: return (broken(number, first), "text/html")
    case .hostile: return (hostile(number, first), "text/xml")
    }
  }

  private static func rss(_ number: Int, _ items: [Item]) -> String {
    let entries = items.map { item in
      "<item><title>\(item.title.escaped)</title><link>\(item.link)</link><guid isPermaLink=\"false\">"
        + "\(item.id)</guid><pubDate>\(mailDate(item.date))</pubDate><description>&lt;p&gt;"
        + "\(item.text.escaped.escaped)&lt;/p&gt;</description></item>"
    }.joined()
    return
      "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>\(name(number))</title><link>"
      + "https://example.org/\(number)</link><description>x</description>\(entries)</channel></rss>"
  }

  private static func atom(_ number: Int, _ items: [Item], next: String?) -> String {
    let entries = items.map { item in
      "<entry><id>\(item.id)</id><title>\(item.title.escaped)</title><link href=\"\(item.link)\"/>"
        + "<updated>\(item.date.formatted(.iso8601))</updated><content type=\"html\">&lt;p&gt;"
        + "\(item.text.escaped.escaped)&lt;/p&gt;</content></entry>"
    }.joined()
    let more = next.map { "<link rel=\"next\" href=\"\($0)\"/>" } ?? ""
    return
      "<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>\(name(number))"
      + "</title><id>urn:example:\(number)</id>\(more)\(entries)</feed>"
  }

  private static func rdf(_ number: Int, _ items: [Item]) -> String {
    let entries = items.map { item in
      "<item rdf:about=\"\(item.link)\"><title>\(item.title.escaped)</title><link>\(item.link)</link>"
        + "<dc:date>\(item.date.formatted(.iso8601))</dc:date><description>\(item.text.escaped)"
        + "</description></item>"
    }.joined()
    return "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" "
      + "xmlns=\"http://purl.org/rss/1.0/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><channel "
      + "rdf:about=\"urn:\(number)\"><title>\(name(number))</title></channel>\(entries)</rdf:RDF>"
  }

  private static func json(_ number: Int, _ items: [Item]) -> String {
    let entries = items.map { item in
      [
        "id": item.id, "url": item.link, "title": item.title, "content_text": item.text,
        "date_published": item.date.formatted(.iso8601),
      ]
    }
    let feed: [String: Any] = [
      "version": "https://jsonfeed.org/version/1.1", "title": name(number), "items": entries,
    ]
    let data = try? JSONSerialization.data(withJSONObject: feed, options: [.sortedKeys])
    return String(decoding: data ?? Data(), as: UTF8.self)
  }

  /// Returns a feed that is broken in common ways: text before the document, a bare ampersand, an
  /// undeclared entity, unusual dates.
  private static func broken(_ number: Int, _ items: [Item]) -> String {
    let entries = items.map { item in
      "<item><title>\(item.title) & more&nbsp;of it</title><link>\(item.link)</link><guid>\(item.id)"
        + "</guid><pubDate>\(mailDate(item.date).replacing("+0000", with: "GMT").dropFirst(5))</pubDate>"
        + "<description>\(item.text)</description></item>"
    }.joined()
    return
      "\n\n  <?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>\(name(number))</title>"
      + entries + "</channel></rss>\n<!-- made by hand -->"
  }

  /// Returns a hostile feed: with scripts, or with entities that would expand to terabytes.
  private static func hostile(_ number: Int, _ items: [Item]) -> String {
    if number % 20 == 9 {
      let entities = (1...12).map { level in
        "<!ENTITY e\(level) \"\(String(repeating: "&e\(level - 1);", count: 12))\">"
      }.joined()
      return "<!DOCTYPE rss [<!ENTITY e0 \"ha\">\(entities)]><rss version=\"2.0\"><channel><title>"
        + "&e12;</title></channel></rss>"
    }
    let entries = items.map { item in
      "<item><title>\(item.title) &lt;script&gt;document.title='owned'&lt;/script&gt;</title>"
        + "<link>javascript:alert(1)</link><guid>\(item.id)</guid>"
        + "<pubDate>\(mailDate(item.date))</pubDate><description><![CDATA[<img src=x onerror=alert(1)>"
        + "<script>document.title='owned'</script>\(item.text)]]></description></item>"
    }.joined()
    return "<rss version=\"2.0\"><channel><title>\(name(number))</title>\(entries)</channel></rss>"
  }

  /// Returns a date in the form of RFC 822.
  private static func mailDate(_ date: Date) -> String {
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let parts = calendar.dateComponents(
      [.weekday, .day, .month, .year, .hour, .minute, .second], from: date)
    let time = [parts.hour, parts.minute, parts.second].map {
      let text = String($0 ?? 0)
      return text.count < 2 ? "0" + text : text
    }.joined(separator: ":")
    return "\(days[(parts.weekday ?? 1) - 1]), \(parts.day ?? 1) \(months[(parts.month ?? 1) - 1]) "
      + "\(parts.year ?? 1970) \(time) +0000"
  }
}
