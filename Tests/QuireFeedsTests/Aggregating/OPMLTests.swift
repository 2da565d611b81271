import QuireCore
import Testing

@testable import QuireFeeds

@Suite struct OPMLTests {
  private func read(_ text: String) throws -> OPML { try OPML(Array(text.utf8)) }

  @Test("17-OPML: a list of the specification's form is read with its folders, each address once")
  func sample() throws {
    let list = try read(
      """
      <?xml version="1.0" encoding="ISO-8859-1"?>
      <opml version="2.0"><head><title>mySubscriptions.opml</title></head><body>
      <outline text="CNET" type="rss" xmlUrl="http://news.com/rss.xml" htmlUrl="http://news.com/"/>
      <outline text="Tech"><outline text="Swift">
        <outline title="Blog" xmlUrl="https://swift.org/atom.xml" category="/ignored"/>
        <outline text="Again" xmlUrl="http://news.com/rss.xml"/>
      </outline><outline text="A note without a feed"/></outline>
      <outline text="Flat" XMLURL="https://x.test/f" category="/Science/Space,/Other"/>
      </body></opml>
      """)
    #expect(list.title == "mySubscriptions.opml")
    #expect(
      list.outlines == [
        .init(feedURL: "http://news.com/rss.xml", title: "CNET", url: "http://news.com/"),
        .init(feedURL: "https://swift.org/atom.xml", title: "Blog", folders: ["Tech", "Swift"]),
        .init(feedURL: "https://x.test/f", title: "Flat", folders: ["Science", "Space"]),
      ])
  }

  @Test("17-OPML: what is written is read again as it was, whatever titles and folders hold")
  func roundTrip() throws {
    let list = OPML(
      title: "A \"list\" & <more>",
      outlines: [
        .init(feedURL: "https://b.test/?a=1&b=2", title: "B\n<b> 'x' \u{1} ü"),
        .init(feedURL: "https://a.test/", title: "A", url: "https://a.test", folders: ["F & G"]),
        .init(feedURL: "https://c.test/", title: "C", folders: ["F & G", "Inner"]),
      ])
    let read = try read(list.document)
    #expect(read.title == list.title)
    #expect(read.outlines.map(\.feedURL) == list.outlines.map(\.feedURL))
    #expect(read.outlines.map(\.folders) == list.outlines.map(\.folders))
    #expect(read.outlines[0].title == "B\n<b> 'x'  ü")
  }

  @Test(
    "17-OPML: an address with the scheme of feeds is that of the web that it means",
    arguments: [
      ("feed://a.test/f", "http://a.test/f"), (" FEED:HTTPS://a.test/f", "https://a.test/f"),
      ("feed:http://a.test/f", "http://a.test/f"), ("feed://https://a.test/f", "https://a.test/f"),
      ("feed:javascript:alert(1)", "feed:javascript:alert(1)"), ("feed:a", "feed:a"),
      ("feed:feed://a.test/", "feed:feed://a.test/"), ("feed.xml", "feed.xml"),
    ])
  func feedScheme(address: String, web: String) throws {
    let list = try read("<opml><body><outline xmlUrl='\(address)'/></body></opml>")
    #expect(list.outlines.map(\.feedURL) == [web])
  }

  @Test(
    "17-OPML: a list with broken markup is mended like a feed, and one cut off is refused"
  )
  func broken() throws {
    let end = "</outline></body></opml>"
    let folder = "<opml><body><outline text='Q & A'>"
    for (text, title) in [
      ("<outline text='a & b' xmlUrl='https://a.test/?a=1&b=2'/>\(end)", "a & b"),
      ("<outline text='1 < 2' xmlUrl='\n https://a.test/?a=1&b=2 '>\(end)", "1 < 2"),
      ("<outline text=a xmlUrl=https://a.test/?a=1&b=2 />\(end)", "a"),
      ("<outline text='a' text='b' xmlUrl='https://a.test/?a=1&b=2'></body></opml>", "a"),
    ] {
      let list = try read(folder + text)
      #expect(
        list.outlines == [
          .init(feedURL: "https://a.test/?a=1&b=2", title: title, folders: ["Q & A"])
        ])
    }
    let legacy = try OPML(
      Array("<?xml version='1.0' encoding='windows-1251'?>\(folder)<outline text='".utf8)
        + [0xCF, 0xF0] + Array("' xmlUrl='https://a.test/'/>\(end)".utf8))
    #expect(legacy.outlines.map(\.title) == ["Пр"])
    for text in ["<outline xmlUrl='https://a.test/'/>", "<outline xmlUrl='https://a.t"] {
      #expect(throws: PageError.self) { try read(folder + text) }
    }
  }

  @Test("17-OPML: what is no list is refused, and a hostile one costs little")
  func hostile() throws {
    for text in ["", "no", "<rss/>", "<opml><body>", "{\"a\": 1}"] {
      #expect(throws: PageError.self) { try read(text) }
    }
    let deep = String(repeating: "<outline text='d'>", count: 60)
    let end = String(repeating: "</outline>", count: 60)
    let list = try read(
      "<opml><body>\(deep)<outline xmlUrl='https://deep.test/'/>\(end)</body></opml>")
    #expect(list.outlines.map(\.folders.count) == [32])
    let category = String(repeating: "/a", count: 2_000)
    let flat = try read(
      "<opml><body><outline xmlUrl='https://a.test/' category='\(category)'/></body></opml>")
    #expect(flat.outlines.first?.folders.count == 32)
    #expect(flat.document.utf8.count < 10_000)
    let bomb = "<!DOCTYPE o [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><opml><body/></opml>"
    _ = try? read(bomb)
  }
}
