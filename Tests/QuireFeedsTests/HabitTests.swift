import Foundation
import QuireCore
import Testing

@testable import QuireFeeds

/// Habits of publishers that no specification mentions, each seen in a real feed.
@Suite("Feeds: habits of the wild")
struct HabitTests {
  @Test("17-Rss, 17-Repairs: names of attributes are read whatever their case")
  func attributeCase() throws {
    let text = """
      <rss Version="2.0"><channel><item><title>t</title><link>http://a.test/1</link>
      <guid isPermalink="false">http://a.test/?p=1</guid>
      <enclosure URL="http://a.test/1.mp3" Length="5" TYPE="audio/mpeg"/></item></channel></rss>
      """
    let feed = try parsed(text)
    #expect(feed.feed.format == FeedFormat(.rss, version: "2.0"))
    #expect(feed.entries[0].canonicalURL == nil)
    #expect(feed.entries[0].enclosures.map(\.url) == ["http://a.test/1.mp3"])
    #expect(feed.entries[0].enclosures[0].length == 5)
  }

  @Test("17-Atom: contents of Atom 0.3 in base 64 are decoded")
  func base64() throws {
    let text = """
      <feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><id>1</id>
      <content type="text/html" mode="base64">PHA+
      aMOpPC9wPg==</content><title mode="base64">aGk=</title></entry>
      <entry><id>2</id><content type="text/html" mode="base64">no base 64!?</content></entry></feed>
      """
    let feed = try parsed(text)
    #expect(feed.entries[0].content?.value == "<p>hé</p>")
    #expect(feed.entries[0].content?.kind == .html)
    #expect(feed.entries[0].title?.value == "hi")
    #expect(feed.entries[1].content != nil)
  }

  @Test("17-Rss: entries that are places of one page are several, for their links differ")
  func places() throws {
    let text = """
      <rss version="2.0"><channel><item><title>same</title><link>http://a.test/log#v1</link></item>
      <item><title>same</title><link>http://a.test/log#v2</link></item></channel></rss>
      """
    let entries = try parsed(text).entries
    #expect(
      entries.map(\.identity.value) == ["https://a.test/log#v1", "https://a.test/log#v2"])
  }

  @Test("17-Repairs: numbers of Windows-1252 are its characters, in titles, texts and markup")
  func windowsNumbers() throws {
    let text = """
      <rss version="2.0"><channel><item><title>don&#146;t</title>
      <description>a &#x96; b &lt;i&gt;c\u{85}&lt;/i&gt; é</description></item>
      <item><title>&#xA0;né\u{E9}</title></item></channel></rss>
      """
    let page = try parsed(text)
    #expect(page.entries[0].title?.value == "don’t")
    #expect(page.entries[0].summary?.value == "a – b <i>c…</i> é")
    #expect(page.feed.repairs == [FeedRepair(.windowsCharacter, count: 3)])
    #expect(page.entries[1].title?.value.hasSuffix("néé") == true)
  }

  @Test("17-Rss, 17-Modules: sizes with commas between thousands are read, and a size of 0 is none")
  func sizes() throws {
    let page = try parsed(
      """
      <rss xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:media="http://search.yahoo.com/mrss/">
      <channel><item><enclosure url="/1" length=" 1,234,567 "/><enclosure url="/2" length="0"/>
      <media:content url="/3" fileSize="1,024"/><podcast:alternateEnclosure length="0">
      <podcast:source uri="/4"/></podcast:alternateEnclosure></item></channel></rss>
      """)
    #expect(page.entries[0].enclosures.map(\.length) == [1_234_567, nil, 1_024, nil])
  }

  @Test("17-Atom, 17-Rss, 17-Repairs: a root in a namespace that no format has is told by its name")
  func unknownNamespaces() throws {
    for namespace in ["http://purl.org/echo/", "http://example.com/necho"] {
      let page = try parsed(
        "<feed xmlns='\(namespace)'><entry><id>1</id><title>t</title></entry></feed>")
      #expect(page.feed.format == FeedFormat(.atom, version: nil))
      #expect(page.entries.map(\.id) == ["1"] && page.entries[0].title?.value == "t")
      #expect(page.feed.repairs == [FeedRepair(.unknownNamespace)])
    }
    let rss = try parsed(
      "<r:rss xmlns:r='urn:mine' version='2.0'><r:channel><r:item><r:guid>1</r:guid></r:item></r:channel></r:rss>"
    )
    #expect(rss.entries.map(\.id) == ["1"])
    let strict = "<rss xmlns='urn:mine'><channel><item/></channel></rss>"
    #expect(throws: PageError.self) { try parsed(strict, at: nil, FeedOptions(isStrict: true)) }
    #expect(throws: PageError.self) { try parsed("<html xmlns='urn:mine'/>") }
  }

  @Test("17-Rss, 17-Repairs: RSS in the namespace of another format is told by its name")
  func otherNamespaces() throws {
    for namespace in ["http://www.w3.org/2005/Atom", "http://purl.org/rss/1.0/modules/content/"] {
      let page = try parsed(
        """
        <rss version="2.0" xmlns="\(namespace)" xmlns:atom="\(namespace)"><channel><title>T</title>
        <atom:link rel="self" href="http://a.test/f"/><link>http://a.test/</link><item><guid>1</guid>
        <title>t</title><link>http://a.test/1</link><description>d</description></item></channel></rss>
        """)
      #expect(page.feed.title?.value == "T" && page.feed.url == "http://a.test/")
      #expect(page.feed.repairs == [FeedRepair(.unknownNamespace)])
      #expect(page.entries.map(\.id) == ["1"] && page.entries[0].url == "http://a.test/1")
      #expect(page.entries[0].summary?.value == "d")
    }
  }

  @Test("17-Modules, 17-Atom: namespaces that publishers write with https are those with http")
  func secureNamespaces() throws {
    let rss = try parsed(
      """
      <rss xmlns:c="https://purl.org/rss/1.0/modules/content/" xmlns:d="https://purl.org/dc/elements/1.1/"
      xmlns:m="https://search.yahoo.com/mrss/" xmlns:p="http://podcastindex.org/namespace/1.0"><channel><item>
      <c:encoded>&lt;p&gt;x&lt;/p&gt;</c:encoded><d:creator>Ann</d:creator><m:thumbnail url="/t.png"/>
      <p:season>2</p:season></item></channel></rss>
      """)
    let entry = rss.entries[0]
    #expect(entry.content?.value == "<p>x</p>" && entry.authors.map(\.name) == ["Ann"])
    #expect(entry.image == "https://example.org/t.png" && entry.episode?.season == 2)
    let atom = try parsed(
      "<feed xmlns='https://www.w3.org/2005/Atom'><entry><summary>s</summary></entry></feed>")
    #expect(atom.feed.format == FeedFormat(.atom, version: "1.0") && atom.feed.repairs == [])
    #expect(atom.entries[0].summary?.value == "s")
  }

  @Test("17-Modules: spaces around a namespace do not count")
  func spacedNamespaces() throws {
    let feed = try parsed(
      """
      <rss xmlns:i=" http://www.itunes.com/DTDs/PodCast-1.0.dtd" xmlns:d=" http://purl.org/dc/elements/1.1/ ">
      <channel><i:author>Ann</i:author><item><d:creator>Bob</d:creator></item></channel></rss>
      """)
    #expect(feed.feed.authors.map(\.name) == ["Ann"])
    #expect(feed.entries.first?.authors.map(\.name) == ["Bob"])
  }

  @Test(
    "17-Rss: a feed's author comes before who owns or hosts it, in whatever order they are written",
    arguments: [
      (["webmaster", "owner", "author"], "Ann"), (["owner", "webmaster"], "Olga"),
      (["author", "owner"], "Ann"), (["webmaster"], "Wim"),
    ])
  func whoIsAuthor(parts: [String], expected: String) throws {
    let elements = [
      "webmaster": "<webMaster>w@a.test (Wim)</webMaster>",
      "owner": "<itunes:owner><itunes:name>Olga</itunes:name></itunes:owner>",
      "author": "<itunes:author>Ann</itunes:author>",
    ]
    let written = parts.compactMap { elements[$0] }.joined()
    let feed = try parsed("<rss version='2.0'><channel>\(written)</channel></rss>").feed
    #expect(feed.authors.map(\.name) == [expected])
  }

  @Test("17-Rss, 17-Modules: an author who is only a mail address hides no name")
  func namedAuthors() throws {
    let page = try parsed(
      """
      <rss version='2.0'><channel><managingEditor>e@a.test</managingEditor><webMaster>w@a.test (Wim)</webMaster>
      <itunes:author>Ann</itunes:author><item><author>b@a.test</author><dc:creator>Bob</dc:creator></item>
      <item><author>c@a.test (Carl)</author><dc:creator>Bob</dc:creator></item><item><author>d@a.test</author></item>
      </channel></rss>
      """)
    #expect(page.feed.authors == [FeedPerson(name: "Ann"), FeedPerson(email: "e@a.test")])
    #expect(
      page.entries.map(\.authors) == [
        [FeedPerson(name: "Bob"), FeedPerson(email: "b@a.test")],
        [FeedPerson(name: "Carl", email: "c@a.test")], [FeedPerson(email: "d@a.test")],
      ])
  }

  @Test("17-Rss: the items of several channels are entries of one feed, which the first describes")
  func channels() throws {
    let page = try parsed(
      "<rss><channel><title>A</title><item><guid>1</guid></item></channel><item><guid>3</guid></item>"
        + "<channel><title>B</title><item><guid>2</guid></item></channel></rss>")
    #expect(page.feed.title?.value == "A" && page.entries.map(\.id) == ["1", "3", "2"])
  }

  @Test("17-Rss: RSS 1.1, whose root is the channel, has its items in a list")
  func rss11() throws {
    let page = try parsed(
      """
      <Channel xmlns="http://purl.org/net/rss1.1#" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
      rdf:about="http://a.test/f"><title>T</title><items rdf:parseType="Collection">
      <item rdf:about="http://a.test/1"><title>One</title></item></items></Channel>
      """)
    #expect(page.feed.title?.value == "T" && page.entries.map(\.id) == ["http://a.test/1"])
  }

  @Test("17-Atom: Atom whose namespace was forgotten has its persons and sources")
  func forgottenNamespace() throws {
    let page = try parsed(
      """
      <feed><title>T</title><tagline>L</tagline><author><name>Ann</name><email>a@b.test</email></author>
      <contributor><name>Bob</name></contributor><entry><id>1</id><contributor><name>Eve</name></contributor>
      <source><id>s</id><title>S</title><link rel="self" href="/s"/><author><name>Cy</name></author></source>
      </entry></feed>
      """)
    #expect(page.feed.subtitle?.value == "L")
    #expect(
      page.feed.authors == [
        FeedPerson(name: "Ann", email: "a@b.test"), FeedPerson(name: "Bob", role: "contributor"),
      ])
    let entry = page.entries[0]
    #expect(entry.source == FeedSource(title: "S", feedURL: "https://example.org/s", id: "s"))
    #expect(entry.authors.map(\.name) == ["Cy", "Eve"])
  }

  @Test("17-Rss: a source with elements in it keeps its address and its text")
  func mixedSources() throws {
    let page = try parsed(
      """
      <rss><channel>
      <item><guid>1</guid><source url="http://a.test/f">The <b>Times</b></source></item>
      <item><guid>2</guid><source url="http://a.test/f"> <title>X</title></source></item>
      <item><guid>3</guid><source url="http://a.test/f">A</source></item></channel></rss>
      """)
    #expect(page.entries.map(\.source?.feedURL) == Array(repeating: "http://a.test/f", count: 3))
    #expect(page.entries.map(\.source?.title) == ["The Times", "X", "A"])
  }

  @Test("17-Modules: dc:identifier is an entry's identifier only where its format gives none")
  func identifiers() throws {
    let page = try parsed(
      """
      <feed xmlns="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">
      <entry><dc:identifier>doi:1</dc:identifier><id>urn:1</id></entry>
      <entry><id>urn:2</id><dc:identifier>doi:2</dc:identifier></entry>
      <entry><dc:identifier>doi:3</dc:identifier></entry></feed>
      """)
    #expect(page.entries.map(\.id) == ["urn:1", "urn:2", "doi:3"])
  }

  @Test("17-Modules: an entry's author in dc:author, its categories in itunes:category")
  func looseModules() throws {
    let text = """
      <rss xmlns:dc="http://purl.org/dc/elements/1.1/"
      xmlns:itunes="http://www.itunes.com/DTDs/Podcast-1.0.dtd"><channel><item>
      <dc:author>Ann</dc:author><itunes:category text="Technology"><itunes:category text="Gadgets"/>
      </itunes:category></item></channel></rss>
      """
    let entry = try parsed(text).entries[0]
    #expect(entry.authors.map(\.name) == ["Ann"])
    #expect(entry.categories.map(\.term) == ["Technology", "Gadgets"])
  }

  @Test("17-Modules: how many comments there are is read of a link's thr:count too (RFC 4685)")
  func threadCount() throws {
    let text = """
      <feed xmlns="http://www.w3.org/2005/Atom" xmlns:thr="http://purl.org/syndication/thread/1.0">
      <entry><id>1</id><link rel="replies" type="application/atom+xml" href="http://a.test/c"
      thr:count="7"/></entry></feed>
      """
    let comments = try parsed(text).entries[0].comments
    #expect(comments == FeedComments(feedURL: "http://a.test/c", count: 7))
  }

  @Test("17-Discovery: the root of a document is known in UTF-16, too, and behind what precedes it")
  func rootNames() throws {
    let text =
      "<?xml version='1.0'?><!-- <rss> --><!DOCTYPE a [<!ELEMENT b ANY>]>\n<o:OPML version='2'>"
    #expect(OpenElement.rootName(of: Array(text.utf8)) == "opml")
    let wide = try Array(#require(text.data(using: .utf16)))
    #expect(OpenElement.rootName(of: wide) == "opml")
    for text in ["", "text", "<!-- <rss>", "<!DOCTYPE [", "<?"] {
      #expect(OpenElement.rootName(of: Array(text.utf8)) == nil)
    }
  }

  @Test("17-Json, 17-Repairs: null in place of JSON Feed's items is an empty list, and counted")
  func nullItems() throws {
    let page = try parsed(
      #"{"version":"https://jsonfeed.org/version/1.1","title":"T","items":null}"#)
    #expect(page.entries.isEmpty && page.feed.title?.value == "T")
    #expect(page.feed.repairs.map(\.kind) == [.wrongType])
    #expect(throws: PageError.self) { try parsed(#"{"items":null}"#) }
  }

  @Test("17-Json, 17-Repairs: items of JSON Feed that are no objects are left out and counted")
  func noObjects() throws {
    let text = """
      {"version": "https://jsonfeed.org/version/1", "items": ["a", 5, {"id": "1"}, null, [1]]}
      """
    let feed = try parsed(text)
    #expect(feed.entries.map(\.id) == ["1"])
    #expect(feed.feed.repairs == [FeedRepair(.wrongType, count: 4)])
    #expect(throws: PageError.self) { try parsed(text, at: nil, FeedOptions(isStrict: true)) }
  }

  @Test(
    "17-Repairs: a feed that says UTF-16 and is UTF-8 is read as what it is, and that is counted")
  func otherWidth() throws {
    let text =
      "<?xml version='1.0' encoding='UTF-16'?><rss version='2.0'><channel><title>é</title></channel></rss>"
    let feed = try parsed(text)
    #expect(feed.feed.title?.value == "é")
    #expect(feed.feed.repairs.map(\.kind) == [.wrongEncoding])
    #expect(throws: PageError.self) { try parsed(text, at: nil, FeedOptions(isStrict: true)) }
  }

  @Test("17-Modules: hosts and guests of a podcast do not take the place of its author")
  func roles() throws {
    let text = """
      <rss version="2.0" xmlns:podcast="https://podcastindex.org/namespace/1.0"
      xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>
      <podcast:person role="host">Ann</podcast:person><itunes:author>House</itunes:author></channel></rss>
      """
    #expect(try parsed(text).feed.authors.map(\.name) == ["House", "Ann"])
  }

  @Test(
    "17-Form: an author of whom only the address is known has one of the members that JSON Feed demands"
  )
  func mailto() throws {
    let text = "<rss><channel><item><guid>1</guid><author>a@b.test</author></item></channel></rss>"
    var entry = try parsed(text).entries[0]
    entry.raw = nil
    guard case .array(let authors)? = entry.jsonFeedItem()["authors"] else {
      Issue.record("There are no authors.")
      return
    }
    #expect(authors.map { $0["url"]?.string } == ["mailto:a@b.test"])
    let back = try JSONDecoder().decode(FeedEntry.self, from: JSONEncoder().encode(entry))
    #expect(back.authors == entry.authors)
  }

  @Test(
    "17-Dates: dates in the languages and characters of the world are read",
    arguments: [
      ("mar., 03 juin 2003 09:39:21 +0200", "2003-06-03T07:39:21Z"),
      ("12 Octobre 2010", "2010-10-12T00:00:00Z"), ("3 août 2010 10:00", "2010-08-03T10:00:00Z"),
      ("Втр, 03 Июн 2003 09:39:21 MSK", "2003-06-03T06:39:21Z"),
      ("3 мая 2003", "2003-05-03T00:00:00Z"), ("5 stycznia 2004 10:00", "2004-01-05T10:00:00Z"),
      ("Sal, 3 Haziran 2003 09:39:21 +0300", "2003-06-03T06:39:21Z"),
      ("2003年6月3日 09:39:21", "2003-06-03T09:39:21Z"), ("2003年 6月 3日", "2003-06-03T00:00:00Z"),
      ("2003年6月3日 下午9时39分21秒", "2003-06-03T21:39:21Z"),
      ("火, 03 6月 2003 09:39:21 +0900", "2003-06-03T00:39:21Z"),
      ("화, 03 6월 2003 09:39:21 +0900", "2003-06-03T00:39:21Z"),
      ("周二, 03 6月 2003 09:39:21 +0800", "2003-06-03T01:39:21Z"),
      ("月, 02 6月 2003", "2003-06-02T00:00:00Z"), ("03 6월 2003", "2003-06-03T00:00:00Z"),
      ("星期二, 03 六月 2003", "2003-06-03T00:00:00Z"), ("11 十二月 2003", "2003-12-11T00:00:00Z"),
      ("火, 3 6 2003 09:39:21 +0900", "2003-06-03T00:39:21Z"),
      ("Tue, 3 6 2003 09:39", "2003-06-03T09:39:00Z"),
      ("2004-05-25 오후 11:23:17", "2004-05-25T23:23:17Z"),
      ("2004년 05월 28일  01:31:15", "2004-05-28T01:31:15Z"),
      ("Tue, 03 Jun 2003 09:39:21 Etc/GMT", "2003-06-03T09:39:21Z"),
      ("Tue, 03 Jun 2003 09:39:21 Somewhere", "2003-06-03T09:39:21Z"),
      ("Tue, 03 Jun 2003 09.39.21 GMT", "2003-06-03T09:39:21Z"),
      ("Tue, 4 Mar 2003 10:00:00 GMT", "2003-03-04T10:00:00Z"),
      ("Mar 4 2003 10:00", "2003-03-04T10:00:00Z"),
    ])
  func dates(text: String, expected: String) throws {
    let date = try #require(FeedDate.read(text), "\(text)")
    #expect(date.formatted(.iso8601) == expected, "\(text)")
  }
}
