import QuireCore
import QuireFeeds
import Testing

@Suite("Feeds: entries where no format has them, and elements that are not closed")
struct NestingTests {
  private func count(_ kind: FeedRepair.Kind, _ repairs: [FeedRepair]) -> Int {
    repairs.first { $0.kind == kind }?.count ?? 0
  }

  static let items =
    "<item><guid>1</guid><title>a</title></item><item><guid>2</guid><title>b</title></item>"
  static let entries =
    "<entry><id>1</id><title>a</title></entry><entry><id>2</id><title>b</title></entry>"

  @Test(
    "17-Repairs, X15: an element of the feed's head that is not closed hides no entry",
    arguments: [
      "<image><url>http://h/i</url>", "<title>T", "<description>D", "<link>http://h/",
      "<language>en", "<textInput><title>s</title>", "<skipHours><hour>1</hour>",
      "<itunes:owner><itunes:name>x</itunes:name>", "<itunes:category text='Arts'>",
      "<atom:link rel='self' href='http://h/f'>", "<x:list><x:item>p</x:item>",
    ])
  func unclosedHead(_ head: String) throws {
    let page = try parsed("<rss version='2.0'><channel>\(head)\(Self.items)</channel></rss>")
    #expect(page.entries.map(\.id) == ["1", "2"])
    #expect(count(.unclosedElement, page.feed.repairs) > 0)
    let atom = "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:a='http://www.w3.org/2005/Atom'>"
    for head in ["<author><name>J</name>", "<link href='http://h/'>", "<a:link href='http://h/'>"] {
      #expect(try parsed("\(atom)\(head)\(Self.entries)</feed>").entries.map(\.id) == ["1", "2"])
    }
  }

  static let rdf =
    "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>"

  @Test(
    "17-Repairs: entries that are elsewhere than their format says are read and counted",
    arguments: [
      "<rss><channel><items>\(items)</items></channel></rss>",
      "<rss><channel><x:list xmlns:x='urn:x'>\(items)</x:list></channel></rss>",
      "<rss><channel><item><guid>1</guid><item><guid>2</guid></item></item></channel></rss>",
      "<rss><channel><channel>\(items)</channel></channel></rss>",
      "<feed xmlns='http://www.w3.org/2005/Atom'><entries>\(entries)</entries></feed>",
      "\(rdf)<channel><items><rdf:Seq><rdf:li>\(items)</rdf:li></rdf:Seq></items></channel></rdf:RDF>",
    ])
  func misplaced(_ text: String) throws {
    let page = try parsed(text)
    #expect(page.entries.map(\.id) == ["1", "2"])
    #expect(page.feed.repairs.map(\.kind) == [.misplacedEntry])
    #expect(throws: PageError.self) { try parsed(text, at: nil, FeedOptions(isStrict: true)) }
  }

  @Test(
    "17-Rss, 17-Sitemap, 17-Repairs: entries beside those of the first channel or list are read")
  func otherPlaces() throws {
    let one = "<item><title>a</title></item>"
    for text in [
      "\(Self.rdf)<channel>\(one)</channel>\(one)</rdf:RDF>",
      "\(Self.rdf)<channel>\(one)</channel><channel>\(one)</channel></rdf:RDF>",
    ] {
      #expect(try parsed(text).entries.count == 2)
    }
    let url = "<url><loc>http://h/1</loc></url>"
    for text in [
      "<urlset><urlset>\(url)</urlset></urlset>", "<sitemapindex>\(url)</sitemapindex>",
      "<urlset><url><url><loc>http://h/1</loc></url></url></urlset>",
    ] {
      #expect(try parsed(text).entries.last?.url == "http://h/1")
      #expect(try count(.misplacedEntry, parsed(text).feed.repairs) == 1)
    }
  }

  @Test(
    "17-Repairs: entries in the namespace of something else are read if there are no others",
    arguments: [
      "<rss><channel xmlns='http://www.w3.org/2005/Atom'>\(items)</channel></rss>",
      "<rss><channel xmlns='urn:x'>\(items)</channel></rss>",
      "<rss><channel xmlns='http://www.w3.org/1999/xhtml'>\(items)</channel></rss>",
      "\(rdf.replacing("rss/1.0", with: "rss/2.0"))<channel/>\(items)</rdf:RDF>",
      "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:x='urn:x'>"
        + entries.replacing("<", with: "<x:").replacing("<x:/", with: "</x:") + "</feed>",
    ])
  func foreign(_ text: String) throws {
    let page = try parsed(text)
    #expect(page.entries.map(\.id) == ["1", "2"])
    #expect(page.entries.map(\.title?.value) == ["a", "b"])
    #expect(page.feed.repairs.map(\.kind) == [.unknownNamespace])
  }

  @Test("17-Repairs: a flaw elsewhere does not end an entry at an extension's element")
  func extensions() throws {
    for inner in [
      "<x:list><x:item>p</x:item><x:item>q</x:item></x:list>", "<x:entry>p</x:entry>",
      "<x:link><x:title>wrong</x:title><x:url>u</x:url></x:link>",
      "<x:id><x:source>s</x:source></x:id>",
      "<gd:entryLink><item><guid>in</guid></item></gd:entryLink>",
      "<content><my-el><item>x</item></my-el></content>",
    ] {
      let item =
        "<title>A</title>\(inner)<guid isPermaLink='false'>1</guid><link>http://h/a</link>"
      let text =
        "<rss xmlns:x='urn:x' xmlns:gd='urn:gd'><channel><title>T%</title><item>\(item)</item>"
        + "<item><guid>2</guid></item></channel></rss>"
      let whole = try parsed(text.replacing("%", with: "&amp;"))
      let broken = try parsed(text.replacing("%", with: "&"))
      #expect(whole.entries.map(\.id) == ["1", "2"], "\(inner)")
      #expect(broken.entries.map(\.id) == ["1", "2"], "\(inner)")
      #expect(broken.entries.map(\.url) == whole.entries.map(\.url), "\(inner)")
      #expect(
        broken.entries[0].title?.value == "A" && count(.bareAmpersand, broken.feed.repairs) == 1)
    }
  }

  @Test(
    "17-Repairs, X15: an element that is not closed hides neither the entry's identifier nor its date",
    arguments: [
      "<description>d", "<description><p>d", "<author>a@b.test", "<category>c",
      "<enclosure url='http://h/e'>", "<media:thumbnail url='http://h/t'>",
      "<media:content url='http://h/c'>", "<media:group>", "<itunes:image href='http://h/i'>",
      "<itunes:duration>60", "<atom:link href='http://h/l'>", "<link href='http://h/l'>",
      "<content:encoded>&lt;p&gt;x", "<slash:comments>3", "<x:foo>y", "<dc:date>2003-06-03",
      "<source url='/s'>S",
    ])
  func swallowed(_ element: String) throws {
    let item = "<guid>1</guid><pubDate>Tue, 03 Jun 2003 09:39:21 GMT</pubDate>"
    let page = try parsed("<rss><channel><item>\(element)\(item)</item></channel></rss>")
    #expect(page.entries.map(\.id) == ["1"] && page.entries[0].published != nil)
    #expect(count(.unclosedElement, page.feed.repairs) == (element.contains("<p>") ? 2 : 1))
    // A source of Atom has an identifier of its own.
    let atom = element.contains(":") || element.hasPrefix("<source") ? "" : element
    let text =
      "<feed xmlns='http://www.w3.org/2005/Atom'><entry>\(atom)<id>1</id></entry></feed>"
    #expect(try parsed(text).entries.map(\.id) == ["1"])
  }

  @Test(
    "17-Repairs: an identifier or a date that comes twice, or none, is refused where reading is strict"
  )
  func singles() throws {
    let date = "<pubDate>Tue, 03 Jun 2003 02:39:21 GMT</pubDate>"
    let updated = "<updated>2003-12-13T18:30:02Z</updated>"
    for (text, kind) in [
      (
        "<rss><channel><item><guid>1</guid><guid>2</guid></item></channel></rss>", "repeatedElement"
      ),
      ("<rss><channel><item>\(date)\(date)</item></channel></rss>", "repeatedElement"),
      ("<rss><item><guid>1</guid></item></rss>", "misplacedEntry"),
    ] {
      #expect(try parsed(text).feed.repairs.map(\.kind.description) == [kind], "\(text)")
      #expect(throws: PageError.self) { try parsed(text, at: nil, FeedOptions(isStrict: true)) }
    }
    for (ids, repairs) in [("<id>1</id><id>2</id>", ["repeatedElement"]), ("", [])] {
      let text =
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry>\(ids)\(updated)</entry></feed>"
      #expect(try parsed(text).feed.repairs.map(\.kind.description) == repairs)
      #expect(throws: PageError.self) { try parsed(text, at: nil, FeedOptions(isStrict: true)) }
    }
  }
}
