import QuireCore
import QuireFeeds
import QuireHTTP
import QuirePagination
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A document read from text.
func parsed(
  _ text: String, at url: String? = "https://example.org/feed", _ options: FeedOptions = FeedOptions()
) throws -> ParsedFeed {
  try ParsedFeed(Array(text.utf8), url: url, options: options)
}

/// Seconds since 1970 of a date as RFC 3339 writes it.
func seconds(_ text: String) throws -> Double {
  try Date(text, strategy: .iso8601).timeIntervalSince1970
}

@Suite("Feeds: formats")
struct FormatTests {
  @Test("17-RSS: RSS 2.0 gives title, link, description, dates, author, category, enclosure, guid, source, comments")
  func rss() throws {
    let document = try parsed(
      """
      <?xml version="1.0"?>
      <rss version="2.0"><channel><title>Liftoff News</title><link>http://liftoff.msfc.nasa.gov/</link>
      <description>Liftoff to Space Exploration.</description><language>en-us</language>
      <pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate><lastBuildDate>Tue, 10 Jun 2003 09:41:01 GMT</lastBuildDate>
      <generator>Weblog Editor 2.0</generator><managingEditor>editor@example.com (Ed Itor)</managingEditor>
      <ttl>60</ttl><skipHours><hour>0</hour><hour>24</hour><hour>7</hour></skipHours>
      <skipDays><day>Sunday</day></skipDays>
      <image><url>/logo.png</url><title>x</title><link>y</link></image>
      <item><title>Star City</title><link>/news/2003/news-starcity.asp</link>
      <description>How do &lt;b&gt;Americans&lt;/b&gt; get ready?</description>
      <author>lawyer@boyer.net (Lawyer Boyer)</author><category domain="http://www.fool.com/cusips">MSFT</category>
      <comments>http://example.org/c/1</comments>
      <enclosure url="http://example.org/a.mp3" length="12216320" type="audio/mpeg"/>
      <guid isPermaLink="false">573</guid><pubDate>Tue, 03 Jun 2003 09:39:21 GMT</pubDate>
      <source url="http://www.tomalak.org/links2.xml">Tomalak's Realm</source></item>
      </channel></rss>
      """)
    let feed = document.feed
    #expect(feed.format == FeedFormat(.rss, version: "2.0"))
    #expect(feed.title?.value == "Liftoff News")
    #expect(feed.url == "http://liftoff.msfc.nasa.gov/")
    #expect(feed.language == "en-us")
    #expect(feed.icon == "https://example.org/logo.png")
    #expect(feed.authors == [FeedPerson(name: "Ed Itor", email: "editor@example.com")])
    #expect(feed.schedule.timeToLive == .seconds(3600))
    #expect(feed.schedule.skipHours == [0, 7])
    #expect(feed.schedule.skipDays == [7])
    #expect(feed.updated?.timeIntervalSince1970 == (try seconds("2003-06-10T09:41:01Z")))
    #expect(feed.repairs == [])
    let entry = try #require(document.entries.first)
    #expect(entry.id == "573")
    #expect(entry.url == "https://example.org/news/2003/news-starcity.asp")
    #expect(entry.summary?.kind == .html)
    #expect(entry.summary?.plain == "How do Americans get ready?")
    #expect(entry.authors == [FeedPerson(name: "Lawyer Boyer", email: "lawyer@boyer.net")])
    #expect(entry.categories == [FeedCategory("MSFT", scheme: "http://www.fool.com/cusips")])
    #expect(entry.comments?.url == "http://example.org/c/1")
    #expect(
      entry.enclosures
        == [FeedEnclosure("http://example.org/a.mp3", mediaType: "audio/mpeg", length: 12_216_320)])
    #expect(entry.source?.feedURL == "http://www.tomalak.org/links2.xml")
    #expect(try entry.raw?.value["guid"]?["#text"]?.string == "573")
  }
}
