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

/// Parses a feed from a text.
func parsed(
  _ text: String, at url: String? = "https://example.org/feed",
  _ options: FeedOptions = FeedOptions()
) throws -> ParsedFeed {
  try ParsedFeed(Array(text.utf8), url: url, options: options)
}

/// Returns the seconds since 1970 of a date in the form of RFC 3339.
func seconds(_ text: String) throws -> Double {
  try Date(text, strategy: .iso8601).timeIntervalSince1970
}

@Suite("Feeds: formats")
struct FormatTests {
  @Test(
    "17-Rss: RSS 2.0 gives title, link, description, dates, author, category, enclosure, guid, source, comments"
  )
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

  @Test(
    "17-Atom: Atom 1.0 gives ids, links by relation, types of text, xml:base and xml:lang (RFC 4287, §1.1)"
  )
  func atom() throws {
    let document = try parsed(
      """
      <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en" xml:base="http://example.org/blog/">
      <title type="text">dive into mark</title><subtitle type="html">A &lt;em&gt;lot&lt;/em&gt; of effort</subtitle>
      <updated>2005-07-31T12:29:29Z</updated><id>tag:example.org,2003:3</id>
      <link rel="alternate" type="text/html" hreflang="en" href="./"/>
      <link rel="self" type="application/atom+xml" href="/feed.atom"/><link rel="hub" href="https://hub.example/"/>
      <rights>Copyright (c) 2003, Mark Pilgrim</rights>
      <generator uri="http://www.example.com/" version="1.0">Example Toolkit</generator>
      <icon>/favicon.ico</icon><logo>logo.png</logo>
      <entry xml:base="2005/"><title>Atom draft-07 snapshot</title>
      <link rel="alternate" type="text/html" href="04/02/atom"/>
      <link rel="enclosure" type="audio/mpeg" length="1337" href="audio/ph34r_my_podcast.mp3"/>
      <link rel="related" href="http://other.example/"/><link rel="replies" type="application/atom+xml" href="/c.atom"/>
      <id>tag:example.org,2003:3.2397</id><updated>2005-07-31T12:29:29Z</updated>
      <published>2003-12-13T08:29:29-04:00</published>
      <author><name>Mark Pilgrim</name><uri>http://example.org/</uri><email>f8dy@example.com</email></author>
      <contributor><name>Sam Ruby</name></contributor><category term="tech" scheme="http://s/" label="Technology"/>
      <content type="xhtml" xml:lang="de"><div xmlns="http://www.w3.org/1999/xhtml"><p><i>[Update: <br/>x &amp; y]</i></p></div></content>
      <summary>Short</summary>
      <source><id>urn:src</id><title>Source</title><link rel="self" href="http://src.example/feed"/></source></entry></feed>
      """)
    let feed = document.feed
    #expect(feed.format == FeedFormat(.atom, version: "1.0"))
    #expect(feed.subtitle?.kind == .html)
    #expect(feed.subtitle?.plain == "A lot of effort")
    #expect(feed.url == "http://example.org/blog/")
    #expect(feed.feedURL == "http://example.org/feed.atom")
    #expect(feed.hubs == [FeedHub("https://hub.example/")])
    #expect(feed.icon == "http://example.org/blog/logo.png")
    #expect(feed.favicon == "http://example.org/favicon.ico")
    #expect(feed.generator == "Example Toolkit 1.0 (http://www.example.com/)")
    #expect(feed.language == "en")
    #expect(feed.repairs == [])
    let entry = try #require(document.entries.first)
    #expect(entry.url == "http://example.org/blog/2005/04/02/atom")
    #expect(
      entry.enclosures.first?.url == "http://example.org/blog/2005/audio/ph34r_my_podcast.mp3")
    #expect(entry.externalURL == "http://other.example/")
    #expect(entry.comments?.feedURL == "http://example.org/c.atom")
    #expect(entry.published?.timeIntervalSince1970 == (try seconds("2003-12-13T12:29:29Z")))
    #expect(
      entry.authors.first
        == FeedPerson(name: "Mark Pilgrim", url: "http://example.org/", email: "f8dy@example.com"))
    #expect(entry.authors.last == FeedPerson(name: "Sam Ruby", role: "contributor"))
    #expect(entry.categories == [FeedCategory("tech", scheme: "http://s/", label: "Technology")])
    #expect(entry.content?.kind == .xhtml)
    #expect(entry.content?.value == "<p><i>[Update: <br>x &amp; y]</i></p>")
    #expect(entry.content?.language == "de")
    #expect(entry.content?.base == "http://example.org/blog/2005/")
    #expect(entry.summary == FeedText("Short", language: "en"))
    #expect(entry.source?.feedURL == "http://src.example/feed")
    #expect(entry.language == "en")
  }

  @Test("17-Atom: Atom 0.3 has tagline, modified, issued and modes of content")
  func atom03() throws {
    let document = try parsed(
      """
      <feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>Old</title><tagline>Line</tagline>
      <modified>2003-12-13T18:30:02Z</modified><link rel="alternate" type="text/html" href="http://example.org/"/>
      <entry><title>E</title><id>vemmi://1</id><issued>2003-12-13T08:29:29-04:00</issued>
      <modified>2003-12-13T18:30:02Z</modified><created>2003-12-13T08:00:00Z</created>
      <content type="text/html" mode="escaped">&lt;p&gt;x&lt;/p&gt;</content></entry></feed>
      """)
    #expect(document.feed.format.version == "0.3")
    #expect(document.feed.subtitle?.value == "Line")
    #expect(document.entries[0].content?.kind == .html)
    #expect(document.entries[0].content?.value == "<p>x</p>")
    #expect(document.entries[0].published != nil && document.entries[0].updated != nil)
  }

  @Test(
    "17-Rdf: RSS 1.0 and 0.90 have their items beside the channel, with Dublin Core and content")
  func rdf() throws {
    let document = try parsed(
      """
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
       xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"
       xmlns:content="http://purl.org/rss/1.0/modules/content/">
      <channel rdf:about="http://www.xml.com/xml/news.rss"><title>XML.com</title><link>http://xml.com/pub</link>
      <description>XML</description><dc:language>en</dc:language><sy:updatePeriod>hourly</sy:updatePeriod>
      <sy:updateFrequency>2</sy:updateFrequency></channel>
      <image rdf:about="x"><url>http://xml.com/i.gif</url></image>
      <item rdf:about="http://xml.com/pub/1"><title>One</title><link>http://xml.com/pub/1</link>
      <dc:creator>Simon (simon@example.com)</dc:creator><dc:date>2000-06-19T09:00+01:00</dc:date>
      <dc:subject>XML</dc:subject><content:encoded><![CDATA[<p>Body</p>]]></content:encoded></item></rdf:RDF>
      """)
    #expect(document.feed.format == FeedFormat(.rdf, version: "1.0"))
    #expect(document.feed.icon == "http://xml.com/i.gif")
    #expect(document.feed.schedule.updateInterval == .seconds(1800))
    let entry = document.entries[0]
    #expect(entry.id == "http://xml.com/pub/1")
    #expect(entry.published?.timeIntervalSince1970 == (try seconds("2000-06-19T08:00:00Z")))
    #expect(entry.content?.value == "<p>Body</p>")
    #expect(entry.categories.map(\.term) == ["XML"])
    let old = try parsed(
      """
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/">
      <channel><title>Mozilla</title><link>http://www.mozilla.org</link></channel>
      <item><title>New</title><link>http://www.mozilla.org/s</link></item></rdf:RDF>
      """)
    #expect(old.feed.format == FeedFormat(.rdf, version: "0.90"))
    #expect(old.entries.map(\.url) == ["http://www.mozilla.org/s"])
  }

  @Test("17-Json: JSON Feed 1.1 and 1 give every member of the specification")
  func jsonFeed() throws {
    let document = try parsed(
      """
      {"version":"https://jsonfeed.org/version/1.1","title":"My Feed","home_page_url":"https://example.org/",
      "feed_url":"https://example.org/feed.json","description":"D","next_url":"/feed.json?p=2","icon":"i.png",
      "favicon":"f.ico","authors":[{"name":"A","url":"/a","avatar":"/a.png"}],"language":"en","expired":false,
      "hubs":[{"type":"rssCloud","url":"https://hub/"}],"items":[{"id":2,"url":"/2","external_url":"https://e/",
      "title":"T","content_html":"<p>Hi</p>","content_text":"Hi","summary":"S","image":"/i","banner_image":"/b",
      "date_published":"2020-08-07T11:44:36-05:00","date_modified":"2020-08-08T11:44:36Z","author":{"name":"Old"},
      "tags":["x","y"],"language":"de","attachments":[{"url":"/a.mp3","mime_type":"audio/mpeg","title":"At",
      "size_in_bytes":12,"duration_in_seconds":6.5}],"_ext":{"a":1}}]}
      """)
    let feed = document.feed
    #expect(feed.format == FeedFormat(.jsonFeed, version: "1.1"))
    #expect(feed.pages.next == "https://example.org/feed.json?p=2")
    #expect(feed.icon == "https://example.org/i.png")
    #expect(feed.hubs == [FeedHub(kind: "rssCloud", "https://hub/")])
    #expect(feed.repairs.map(\.kind) == [.wrongType])
    let entry = document.entries[0]
    #expect(entry.id == "2")
    #expect(entry.url == "https://example.org/2")
    #expect(entry.externalURL == "https://e/")
    #expect(entry.content?.kind == .html)
    #expect(entry.authors == [FeedPerson(name: "Old")])
    #expect(entry.language == "de")
    #expect(
      entry.enclosures == [
        FeedEnclosure(
          "https://example.org/a.mp3", mediaType: "audio/mpeg", length: 12, duration: .seconds(6.5),
          title: "At")
      ])
    #expect(try entry.raw?.value["_ext"]?["a"] == 1)
    #expect(entry.repairs.map(\.kind) == [.wrongType])
  }

  @Test(
    "17-Sitemap: a sitemap gives addresses, dates, priorities, pictures, films and news; an index its sitemaps"
  )
  func sitemap() throws {
    let document = try parsed(
      """
      <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
       xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
      <url><loc>http://www.example.com/</loc><lastmod>2005-01-01</lastmod><changefreq>monthly</changefreq>
      <priority>0.8</priority><image:image><image:loc>http://example.com/i.jpg</image:loc></image:image>
      <news:news><news:publication><news:name>The Times</news:name><news:language>en</news:language></news:publication>
      <news:publication_date>2008-12-23</news:publication_date><news:title>Companies</news:title></news:news></url></urlset>
      """)
    let entry = document.entries[0]
    #expect(document.feed.format.family == .sitemap)
    #expect(entry.url == "http://www.example.com/")
    #expect(entry.updated?.timeIntervalSince1970 == (try seconds("2005-01-01T00:00:00Z")))
    #expect(entry.changeFrequency == "monthly" && entry.priority == 0.8)
    #expect(entry.image == "http://example.com/i.jpg")
    #expect(entry.title?.value == "Companies" && entry.source?.title == "The Times")
    #expect(document.feed.repairs == [])
    let index = try parsed(
      "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><sitemap><loc>http://e.com/1.xml.gz</loc></sitemap><sitemap><loc>2.xml</loc></sitemap></sitemapindex>"
    )
    #expect(index.feed.sitemaps == ["http://e.com/1.xml.gz", "https://example.org/2.xml"])
  }

  @Test("17-Modules: media RSS, iTunes, Podcasting 2.0, GeoRSS, FeedBurner, Slash and CommentAPI")
  func modules() throws {
    let document = try parsed(
      """
      <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
       xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:georss="http://www.georss.org/georss"
       xmlns:gml="http://www.opengis.net/gml" xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"
       xmlns:slash="http://purl.org/rss/1.0/modules/slash/" xmlns:wfw="http://wellformedweb.org/CommentAPI/">
      <channel><title>Cast</title><itunes:author>Host</itunes:author><itunes:image href="/cover.jpg"/>
      <itunes:explicit>yes</itunes:explicit><itunes:category text="Arts"><itunes:category text="Books"/></itunes:category>
      <item><title>E1</title><guid>http://example.org/e1</guid><link>http://feedproxy.example/e1</link>
      <feedburner:origLink>http://example.org/e1?x</feedburner:origLink>
      <enclosure url="http://example.org/1.mp3" length="0" type="audio/mpeg"/><itunes:duration>1:02:03</itunes:duration>
      <itunes:episode>7</itunes:episode><itunes:season>2</itunes:season><itunes:episodeType>full</itunes:episodeType>
      <podcast:transcript url="/t.vtt" type="text/vtt"/><podcast:chapters url="/c.json" type="application/json+chapters"/>
      <podcast:person role="guest" href="/p" img="/p.png">Ann</podcast:person>
      <media:group><media:content url="/v.mp4" type="video/mp4" fileSize="99" width="640" height="360" duration="185">
      <media:title>Vid</media:title><media:thumbnail url="/t.jpg"/></media:content></media:group>
      <georss:where><gml:Point><gml:pos>45.256 -71.92</gml:pos></gml:Point></georss:where>
      <slash:comments>5</slash:comments><wfw:commentRss>/e1/comments</wfw:commentRss></item></channel></rss>
      """)
    #expect(document.feed.icon == "https://example.org/cover.jpg")
    #expect(document.feed.isExplicit == true)
    #expect(document.feed.categories.map(\.term) == ["Arts", "Books"])
    let entry = document.entries[0]
    #expect(entry.canonicalURL == "http://example.org/e1?x")
    #expect(entry.enclosures[0].length == nil)
    #expect(entry.enclosures[0].duration == .seconds(3723))
    #expect(
      entry.enclosures[1]
        == FeedEnclosure(
          "https://example.org/v.mp4", mediaType: "video/mp4", length: 99, duration: .seconds(185),
          title: "Vid", width: 640, height: 360))
    #expect(entry.image == "https://example.org/t.jpg")
    #expect(
      entry.episode?.number == 7 && entry.episode?.season == 2 && entry.episode?.kind == "full")
    #expect(entry.episode?.transcripts.first?.url == "https://example.org/t.vtt")
    #expect(entry.episode?.chapters?.mediaType == "application/json+chapters")
    #expect(entry.authors.contains { $0.name == "Ann" && $0.role == "guest" })
    #expect(entry.place == FeedPlace(latitude: 45.256, longitude: -71.92))
    #expect(entry.comments?.count == 5)
    #expect(entry.comments?.feedURL == "https://example.org/e1/comments")
  }

  @Test(
    "17-Json, 17-Html: what a publisher writes in the place of Quire's own additions counts for nothing"
  )
  func foreignAdditions() throws {
    let feed = #"""
      {"version":"https://jsonfeed.org/version/1.1","title":"T",
       "_quire":{"new_feed_url":"x\u0000","id":"i","links":[{"url":"javascript:1"}],"format":"atom"},
       "authors":[{"name":"N","_quire":{"email":"e"}}],
       "items":[{"id":"1","content_html":"<script>x</script>y","attachments":
         [{"url":"https://a.test/f","mime_type":"audio/mpeg","_quire":{"mime_type_is_made":true}}],
         "_quire":{"id_is_made":true,"canonical_url":"javascript:1","content_type":"text/html",
           "comments":{"url":"javascript:1"},"links":[{"url":"javascript:1"}],"raw":{"a":1}}}]}
      """#
    var options = FeedOptions()
    options.html = .sanitized
    let page = try parsed(feed, at: "https://example.org/feed", options)
    let entry = try #require(page.entries.first)
    #expect(entry.id == "1" && entry.canonicalURL == nil && entry.comments == nil)
    #expect(entry.links.isEmpty && entry.content?.kind == .html && entry.content?.value == "y")
    #expect(entry.enclosures.first?.mediaType == "audio/mpeg")
    #expect(page.feed.newFeedURL == nil && page.feed.id == nil && page.feed.links.isEmpty)
    #expect(
      page.feed.format == FeedFormat(.jsonFeed, version: "1.1")
        && page.feed.authors.first?.email == nil)
  }

  @Test("17-Form: an entry and a feed of any format survive being encoded as JSON Feed and decoded")
  func roundTrip() throws {
    let texts = [
      """
      <rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>a &amp;amp; b</title><ttl>90</ttl>
      <item><title>x</title><description>&lt;b&gt;s&lt;/b&gt;</description><content:encoded>&lt;p&gt;c&lt;/p&gt;</content:encoded>
      <guid isPermaLink="false">g</guid><comments>http://c/</comments><pubDate>Tue, 3 Jun 2003 09:39:21 GMT</pubDate></item>
      <item><description>only</description></item><item><title>bare</title></item></channel></rss>
      """,
      """
      <feed xmlns="http://www.w3.org/2005/Atom"><title type="html">T &lt;i&gt;</title><id>i</id><updated>2005-07-31T12:29:29.25Z</updated>
      <entry><title type="html">&lt;b&gt;T&lt;/b&gt;</title><id>e</id><updated>2005-07-31T12:29:29Z</updated><content src="/x" type="video/mp4"/>
      <category term="a" scheme="s"/><author><name>N</name><email>e@x.y</email></author></entry>
      <entry><id>e2</id><content src="/y" type="text/html"/></entry>
      <entry><id>e3</id><updated>2005-07-31T12:29:29Z</updated>
      <category term="a" scheme="s"/><author><name>N</name><email>e@x.y</email></author></entry></feed>
      """,
      "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>http://e/</loc><priority>0.5</priority></url></urlset>",
      """
      <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en" xmlns:dc="http://purl.org/dc/elements/1.1/"><title>T</title>
      <subtitle type="html">S</subtitle><entry><id>1</id><title>T</title><summary xml:lang="de">S</summary>
      <content type="html" xml:lang="">C</content></entry><entry xml:lang=""><id>2</id><title>T</title>
      <summary type="html">S</summary><content>C</content><dc:language>fr</dc:language></entry></feed>
      """,
    ]
    for text in texts {
      let document = try parsed(text)
      for entry in document.entries {
        let item = entry.jsonFeedItem()
        #expect(item["id"]?.string != nil)
        #expect(item["content_html"] != nil || item["content_text"] != nil)
        let again = FeedEntry(jsonFeedItem: item)
        #expect(again == entry, "\(item)")
        #expect(again.jsonFeedItem() == item)
        let data = try JSONEncoder().encode(entry)
        #expect(try JSONDecoder().decode(FeedEntry.self, from: data) == entry)
      }
      #expect(Feed(jsonFeed: document.feed.jsonFeed) == document.feed, "\(document.feed.jsonFeed)")
    }
  }

  @Test(
    "17-Media: what is no feed is refused with a word of what it is, and a web page leads to discovery"
  )
  func others() throws {
    for text in ["<!DOCTYPE html><html><body>x</body></html>", "<html><head/></html>"] {
      let error = #expect(throws: PageError.self) { try parsed(text) }
      #expect(error?.code == .unexpectedMediaType)
      #expect(error?.remedies.first?.setting == .feedAddress)
    }
    for text in ["{\"a\":1}", "<opml/>", "hello", "[]", "{\"version\":\"2\"}"] {
      #expect(throws: PageError.self) { try parsed(text) }
    }
    #expect(throws: PageError.self) { try parsed("") }
    for (text, word) in [
      ("<list/>", "its root element is list"), ("<opml/>", "a list of subscriptions"),
    ] {
      let error = #expect(throws: PageError.self) { try parsed(text) }
      #expect(error?.message.contains(word) == true)
    }
  }
}
