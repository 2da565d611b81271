import Glibc
import QuireCore
import QuireFeeds
import QuirePagination
import Testing

@Suite("Feeds: hostile ones")
struct HostileTests {
  /// A hostile document of any size: `text` returns it with so many repetitions.
  struct Attack: Sendable, CustomTestStringConvertible {
    let name: String
    let size: Int
    let text: @Sendable (Int) -> String

    var testDescription: String { name }
  }

  private static func rss(_ item: String) -> String {
    "<rss><channel><item>\(item)</item></channel></rss>"
  }

  static let attacks: [Attack] = [
    Attack(name: "X1 entities") {
      "<!DOCTYPE rss [<!ENTITY a 'aaaaaaaaaa'>]><rss>" + String(repeating: "&a;", count: $0)
    },
    Attack(name: "X1 entities behind an error") {
      "<a & b><!DOCTYPE rss [<!ENTITY a 'b'>]><rss>" + String(repeating: "&a;", count: $0)
    },
    // Longer than a piece of 64 KiB, which is parsed as a whole before anything in it is refused.
    Attack(name: "X6 depth", size: 20_000) { String(repeating: "<rss>", count: $0) },
    Attack(name: "X6 depth, mended") { "<rss><a & >" + String(repeating: "<b c=d>", count: $0) },
    Attack(name: "X7 attributes") { "<rss" + (0..<$0).map { " a\($0)=''" }.joined() + "/>" },
    Attack(name: "X7 attributes, mended") { "<rss" + (0..<$0).map { " a\($0)=b" }.joined() + "/>" },
    Attack(name: "X8 names") { rss("&" + (0..<$0).map { "<n\($0)/>" }.joined()) },
    Attack(name: "X15 stray end tags") { rss("&" + String(repeating: "</b>", count: $0)) },
    Attack(name: "X15 elements that are never closed") {
      rss("<title>&" + String(repeating: "<item><b>", count: $0))
    },
    Attack(name: "X15 brackets") {
      rss("<title>" + String(repeating: "< ", count: $0) + "</title>")
    },
    Attack(name: "X15 ampersands") {
      rss("<title>" + String(repeating: "&", count: $0) + "</title>")
    },
    Attack(name: "X15 comments without end") { rss("&" + String(repeating: "<!-- ", count: $0)) },
    Attack(name: "X15 sections without end") {
      rss("&" + String(repeating: "<![CDATA[", count: $0))
    },
    Attack(name: "X15 quotes without end") { rss("&" + String(repeating: "<a b=\"", count: $0)) },
    Attack(name: "X17 prefixes") { rss((0..<$0).map { "<p\($0):a/>" }.joined()) },
    Attack(name: "X13 text before") { String(repeating: "< x <a ", count: $0) + rss("") },
    Attack(name: "X19 entries") { count in
      "<rss><channel>" + String(repeating: "<item/>", count: count) + "</channel></rss>"
    },
    Attack(name: "markup in a title") {
      rss("<title>" + String(repeating: "&lt;b ", count: $0) + "</title>")
    },
    Attack(name: "keywords") {
      rss("<category>" + String(repeating: "a,", count: $0) + "</category>")
    },
    Attack(name: "names in a long namespace") { count in
      "<rss><channel xmlns:q='\(String(repeating: "A", count: count))'>"
        + (0..<count).map { "<q:n\($0)/>" }.joined() + "</channel></rss>"
    },
    Attack(name: "names in a namespace of spaces") { count in
      "<rss><channel xmlns:q='\(String(repeating: " ", count: count))'>"
        + (0..<count).map { "<q:n\($0)/>" }.joined() + "</channel></rss>"
    },
    Attack(name: "pictures without a title", size: 1_000) { count in
      "<urlset xmlns:i='http://www.google.com/schemas/sitemap-image/1.1'><url><i:image>"
        + String(
          repeating: "<i:loc>a</i:loc>" + String(repeating: "<i:x/>", count: 10), count: count)
        + "</i:image></url></urlset>"
    },
    Attack(name: "transcripts", size: 1_500) { count in
      "<rss xmlns:p='https://podcastindex.org/namespace/1.0'><channel><item>"
        + String(repeating: "<p:transcript url='a'/>", count: count) + "</item></channel></rss>"
    },
    Attack(name: "editors", size: 1_500) { count in
      "<rss><channel>" + String(repeating: "<managingEditor>a</managingEditor>", count: count)
        + "</channel></rss>"
    },
    Attack(name: "dates") { rss("<pubDate>" + String(repeating: "1 ", count: $0) + "</pubDate>") },
    Attack(name: "JSON depth") { "{\"a\":" + String(repeating: "[", count: $0) },
    Attack(name: "JSON items") {
      "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":["
        + [String](repeating: "{\"id\":1}", count: $0).joined(separator: ",") + "]}"
    },
  ]

  /// Checks that four times the length costs at most eight times as much: quadratic time would cost
  /// sixteen times as much.
  ///
  /// Less than 4 ms counts as linear. Other tests share the processor's caches, so a failed
  /// measurement is repeated twice.
  private func expectLinear(_ name: String, _ cost: (_ isLong: Bool) -> Void) {
    var (short, long) = (Double.infinity, Double.infinity)
    for _ in 0..<3 {
      short = min(short, seconds { cost(false) })
      long = min(long, seconds { cost(true) })
      if long < max(short * 8, 0.004) { return }
    }
    Issue.record("\(name): \(short) s, then \(long) s")
  }

  /// Returns the processor time that a piece of work takes in this thread, in seconds.
  private func seconds(_ work: () -> Void) -> Double {
    var start = timespec()
    var end = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
    work()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
    return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
  }

  @Test("Q5: what a hostile feed costs grows with its length, and not faster", arguments: attacks)
  func linear(attack: Attack) {
    let options = FeedOptions(html: .sanitized)
    let short = Array(attack.text(attack.size).utf8)
    let long = Array(attack.text(attack.size * 4).utf8)
    expectLinear(attack.name) { isLong in
      _ = try? ParsedFeed(isLong ? long : short, options: options)
    }
  }

  @Test("Q5: white space before a feed that arrives byte by byte is looked at once")
  func blanks() {
    expectLinear("blanks") { isLong in
      var page = FeedPageDecoder().begin(DecodingContext())
      for _ in 0..<(isLong ? 16_000 : 4_000) { try? page.receive([0x20]) }
    }
  }

  @Test(
    "Z1, X9: HTML of every shape is sanitised and made plain in linear time",
    arguments: [
      "<", "<a", "<a href=\"", "<!--", "</", "&", "&lt", "<b>", "<script>", "</b>", "<p x=y ",
      "<svg/onload=x>",
    ])
  func html(piece: String) {
    let sanitizer = HTMLSanitizer()
    func text(_ count: Int) -> FeedText {
      FeedText(String(repeating: piece, count: count), kind: .html, base: "https://a.test/")
    }
    let (short, long) = (text(2_000), text(8_000))
    expectLinear(piece) { isLong in
      let text = isLong ? long : short
      _ = text.plain
      _ = sanitizer.sanitize(text.value, base: text.base)
      _ = text.withAbsoluteLinks()
    }
  }

  @Test(
    "X1, X3, X4: a feed that declares or loads entities is refused, by the strict and by the lenient"
  )
  func entities() {
    for text in [
      "<!DOCTYPE rss [<!ENTITY a 'b'>]><rss><channel><title>&a;</title></channel></rss>",
      "<!DOCTYPE rss [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><rss><channel><title>&a;</title></channel></rss>",
      "<!DOCTYPE rss [<!ENTITY % a SYSTEM 'http://evil/'> %a;]><rss/>",
      "junk <!DOCTYPE rss [<!ENTITY a 'b'>]><rss><channel><title>& &a;</title></channel></rss>",
    ] {
      for isStrict in [true, false] {
        let error = #expect(throws: PageError.self, "\(text)") {
          try parsed(text, at: nil, FeedOptions(isStrict: isStrict))
        }
        #expect(error?.code == .malformed)
      }
    }
  }

  @Test(
    "X15: a feed that is broken all over is refused, and one that is broken in each entry is read")
  func brokenAllOver() throws {
    for text in [
      String(repeating: "&", count: 100_000), String(repeating: "< ", count: 100_000),
      String(repeating: "&</b>", count: 100_000),
    ] {
      let error = #expect(throws: PageError.self) { try parsed(Self.rss("<title>" + text)) }
      #expect(error?.code == .malformed && error?.message.contains("broken all over") == true)
    }
    let urls = (0..<3_000).map { "<url><loc>https://a.test/?a=\($0)&b=2&c=3&d=4&e</loc></url>" }
    let sitemap = try parsed("<urlset>\(urls.joined())</urlset>")
    #expect(sitemap.entries.count == 3_000)
    #expect(sitemap.feed.repairs.first { $0.kind == .bareAmpersand }?.count == 12_000)
  }

  @Test("X17, Q5: missing namespaces and texts have limits that are named")
  func longest() throws {
    func prefixes(_ count: Int) -> String {
      Self.rss((0..<count).map { "<p\($0):a/>" }.joined())
    }
    #expect(try parsed(prefixes(256)).entries.count == 1)
    for (text, limit) in [
      (prefixes(257), "XMLLimits.namespaces"),
      (
        Self.rss("<title>" + String(repeating: "long ", count: 500_000) + "</title>"),
        "XMLLimits.textBytes"
      ),
    ] {
      let error = #expect(throws: PageError.self) { try parsed(text) }
      #expect(error?.code == .limitExceeded)
      #expect(error?.remedies == [.raise(.init(limit))])
    }
  }

  @Test("X6, X19: depth and entries have limits that are named")
  func limits() {
    let deep = "<rss><channel><title>" + String(repeating: "<b>", count: 100)
    #expect(throws: PageError.self) { try parsed(deep) }
    let many = "<rss><channel>" + String(repeating: "<item/>", count: 11) + "</channel></rss>"
    let error = #expect(throws: PageError.self) {
      try parsed(many, at: nil, FeedOptions(limits: DecodingLimits(items: 10)))
    }
    #expect(error?.code == .limitExceeded)
  }

  @Test("X19, Q5: keywords between commas are parts of their entry, and of the page")
  func keywords() throws {
    let namespace = "xmlns:i='http://www.itunes.com/dtds/podcast-1.0.dtd'"
    func feed(_ items: Int, _ lists: Int, _ words: Int) -> String {
      let list = "<i:keywords>\(String(repeating: "a, ", count: words))</i:keywords>"
      let item = "<item>\(String(repeating: list, count: lists))</item>"
      return "<rss \(namespace)><channel>\(String(repeating: item, count: items))</channel></rss>"
    }
    #expect(try parsed(feed(1, 1, 20)).entries[0].categories.count == 20)
    for (text, events, limit) in [
      (feed(1, 20, 256), 9_000, "DecodingLimits.items"),
      (feed(5, 1, 200), 900, "DecodingLimits.events"),
    ] {
      let limits = DecodingLimits(items: 100, events: events)
      let error = #expect(throws: PageError.self) {
        try parsed(text, at: nil, FeedOptions(limits: limits))
      }
      #expect(error?.code == .limitExceeded)
      #expect(error?.remedies == [.raise(.init(limit))])
    }
  }

  @Test("X19, Q5: a long base, or namespace, is not copied into all addresses and texts of a feed")
  func growth() throws {
    let long = String(repeating: "x", count: 6_000)
    let atom = "xmlns='http://www.w3.org/2005/Atom'"
    func feed(_ root: String, _ entry: String) -> String {
      "<feed \(atom) \(root)>\(String(repeating: entry, count: 300))</feed>"
    }
    let item = #"{"id":"1","url":"a"}"#
    let items = [String](repeating: item, count: 300).joined(separator: ",")
    let json = #"{"version":"https://jsonfeed.org/version/1","items":[\#(items)]}"#
    let own = "xml:base='https://a.test/\(long)/'"
    for (url, text) in [
      ("https://a.test/\(long)/f", feed("", "<entry><link href='a'/></entry>")),
      ("https://a.test/f", feed(own, "<entry xml:base='b'><title type='html'>b</title></entry>")),
      (
        "https://a.test/f",
        feed("xmlns:p='urn:\(long)'", "<entry><content type='x/y'><a/></content></entry>")
      ),
      ("https://a.test/\(long)/f", json),
    ] {
      let limits = DecodingLimits(items: 1_000, events: 20_000)
      let error = #expect(throws: PageError.self) {
        try parsed(text, at: url, FeedOptions(limits: limits))
      }
      #expect(error?.code == .limitExceeded)
      #expect(error?.remedies == [.raise(.init("DecodingLimits.events"))])
      let short = try parsed(
        text.replacing(long, with: "x"), at: "https://a.test/f", FeedOptions(limits: limits))
      #expect(short.entries.count == 300)
    }
  }

  @Test("17-Html, Q5: a long base is not put before all links of a text")
  func linkGrowth() throws {
    let base = "https://a.test/\(String(repeating: "x", count: 6_000))/"
    let links = String(repeating: "<a href='b'>x</a>", count: 300)
    let text = FeedText(links, kind: .html, base: base)
    for value in [text.withAbsoluteLinks().value, text.sanitized().value] {
      #expect(value.contains(base) && value.utf8.count < 60_000)
    }
    let feed = try parsed(
      "<feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='xhtml'>"
        + "<div xmlns='http://www.w3.org/1999/xhtml'><p xml:base='\(base)'>\(links)</p></div>"
        + "</content></entry></feed>")
    let content = try #require(feed.entries[0].content?.value)
    #expect(content.contains(base) && content.utf8.count < 80_000)
  }

  @Test(
    "Q5: links below a long base cost no more than below a short one, once they have no room left",
    arguments: ["<a href=b>x</a>", "<a href=\"#b\">x</a>", "<img srcset=\"a 1x,b 2x,c 3x,d 4x\">"])
  func longBase(piece: String) {
    let html = String(repeating: piece, count: 4_000)
    func text(_ length: Int) -> FeedText {
      let base = "https://a.test/\(String(repeating: "x", count: length))/"
      return FeedText(html, kind: .html, base: base)
    }
    let (short, long) = (text(300), text(7_500))
    expectLinear(piece) { isLong in
      let text = isLong ? long : short
      _ = text.sanitized()
      _ = text.withAbsoluteLinks()
    }
  }

  @Test("Q5: characters that are longer when they are escaped count as long as they are written")
  func escapedGrowth() {
    let base = "https://a.test/\(String(repeating: "&", count: 1_500))/"
    let links = String(repeating: "<a href='b'>x</a>", count: 300)
    let text = FeedText(links, kind: .html, base: base)
    for value in [text.withAbsoluteLinks().value, text.sanitized().value] {
      #expect(value.contains("&amp;/b") && value.utf8.count < 45_000)
    }
  }

  @Test(
    "17-Html: a link that is made absolute stays within its quotes",
    arguments: [
      ("'/b&#39;/onclick=&#39;x'", "'https://a.test/b&#39;/onclick=&#39;x'"),
      ("\"/b&quot;/onclick=&quot;x\"", "\"https://a.test/b%22/onclick=%22x\""),
      ("/b&quot;c", "\"https://a.test/b%22c\""),
    ])
  func quotes(value: String, expected: String) {
    let text = FeedText("<a href=\(value)>y</a>", kind: .html, base: "https://a.test/")
    #expect(text.withAbsoluteLinks().value == "<a href=\(expected)>y</a>")
  }

  @Test(
    "17-Html: a link leads where browsers go that read it as it was written, or nowhere",
    arguments: [
      (#"https://ok.test\@evil.test"#, #"https://ok.test/@evil.test"#),
      (#"HTTPS:\\evil.test\x?a=\b"#, #"HTTPS://evil.test/x?a=%5Cb"#),
      (#"\\evil.test"#, "https://evil.test"), (#"/\evil.test\x"#, "https://evil.test/x"),
      (#"b\c"#, "https://a.test/d/b/c"), (#"mailto:a\b@c.test"#, #"mailto:a%5Cb@c.test"#),
      ("ht\ntps://b.\ttest/x ", "https://b.test/x"),
      ("\u{1} https://b.test/\u{1f}", "https://b.test/"),
      ("\u{1}java\nscript:x", nil), (#"javascript:\x"#, nil), ("\u{b}java\tscript\n:x", nil),
    ])
  func browserLinks(link: String, target: String?) {
    let text = FeedText("<a href=\"\(link)\">y</a>", kind: .html, base: "https://a.test/d/")
    let href = target.map { " href=\"\($0)\"" } ?? ""
    #expect(text.sanitized().value == "<a\(href) rel=\"noopener noreferrer nofollow\">y</a>")
  }

  @Test(
    "17-Html: nothing that runs, loads unseen or escapes survives sanitising",
    arguments: [
      ("<p onclick=x>a</p>", "<p>a</p>"),
      ("<script>alert(1)</script>b", "b"), ("<SCRIPT SRC=//e/x.js></SCRIPT>b", "b"),
      ("<style>p{}</style>b", "b"), ("<iframe src=//e></iframe>b", "b"),
      ("<a href='javascript:alert(1)'>x</a>", "<a rel=\"noopener noreferrer nofollow\">x</a>"),
      ("<a href=' java\nscript:alert(1)'>x</a>", "<a rel=\"noopener noreferrer nofollow\">x</a>"),
      ("<a href='&#106;avascript:alert(1)'>x</a>", "<a rel=\"noopener noreferrer nofollow\">x</a>"),
      ("<a href=/x>y", "<a href=\"https://a.test/x\" rel=\"noopener noreferrer nofollow\">y</a>"),
      ("<img src=i.png onerror=x>", "<img src=\"https://a.test/d/i.png\">"),
      ("<img src='data:text/html,x'>", "<img>"),
      (
        "<svg><a xlink:href='javascript:x'>t</a></svg>",
        "<a rel=\"noopener noreferrer nofollow\">t</a>"
      ),
      ("&copy 2020 &eacutet&eacute; &#39s &foo &am", "© 2020 été 's &amp;foo &amp;am"),
      (
        "<a href='/x?a=1&copy=2&amp=3&lt4' title='&lt'>y</a>",
        "<a href=\"https://a.test/x?a=1&amp;copy=2&amp;amp=3&amp;lt4\" title=\"&lt;\" "
          + "rel=\"noopener noreferrer nofollow\">y</a>"
      ),
      ("</div></article><b>x", "<b>x</b>"), ("<b><i>x</b>y</i>", "<b><i>x</i></b>y"),
      ("<!--><b>x</b><!--->y<!-- z -->", "<b>x</b>y"), ("<!--x--><i>y</i>", "<i>y</i>"),
      ("1 < 2 & <3", "1 &lt; 2 &amp; &lt;3"), ("<!-- x --><?php y ?>z", "z"),
      ("<p style='background:url(x)' class=c id=i>x</p>", "<p>x</p>"),
      ("<form action=x><input name=y><button>z</button></form>", "z"),
      ("<img srcset='a.png 1x, javascript:x 2x'>", "<img srcset=\"https://a.test/d/a.png 1x\">"),
      (
        "<img srcset='https://c.test/w_4,c_limit/x.png 4w,b.png 2x, c.png,, https://d.test/f,g/y.png'>",
        "<img srcset=\"https://c.test/w_4,c_limit/x.png 4w, https://a.test/d/b.png 2x, "
          + "https://a.test/d/c.png, https://d.test/f,g/y.png\">"
      ),
      ("<math><mi xlink:href='data:x'>", ""),
      (
        "<a title='\"><script>x</script>'>y</a>",
        "<a title=\"&quot;&gt;&lt;script&gt;x&lt;/script&gt;\" rel=\"noopener noreferrer nofollow\">y</a>"
      ),
      ("<plaintext>x<b>y", ""), ("<meta http-equiv=refresh content=0>x", "x"),
      ("<base href=//e/>x", "x"),
      ("<img/src=x/onerror=y>", "<img src=\"https://a.test/d/x/onerror=y\">"),
    ])
  func sanitized(html: String, expected: String) {
    let result = HTMLSanitizer().sanitize(html, base: "https://a.test/d/")
    #expect(result == expected)
    #expect(HTMLSanitizer().sanitize(result, base: "https://a.test/d/") == result)
  }

  @Test("17-Html: footnotes keep their links when they are sanitised, however long the base is")
  func footnotes() {
    let page = "https://a.test/feed"
    let long = page + "?token=" + String(repeating: "x", count: 1_000)
    let html = (1...60).map { "<a href=\"#fn\($0)\">\($0)</a>, and some more text. " }.joined()
    for base in [page, long] {
      let result = HTMLSanitizer().sanitize(html, base: base)
      #expect((1...60).allSatisfy { result.contains("<a href=\"#fn\($0)\" rel=") })
      #expect(HTMLSanitizer().sanitize(result, base: base) == result)
      #expect(FeedText(html, kind: .html, base: base).withAbsoluteLinks().value == html)
    }
  }

  @Test(
    "17-Html: HTML is handed out as it is, with absolute links by choice, and sanitised by choice")
  func choices() throws {
    let html =
      "<p onclick=x><a href='/b?c&amp;d'>x</a> <img src=i.png srcset='i.png 1x, /w,2/i.png 2x'></p>"
    let escaped = html.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    let text = "<rss><channel><item><description>\(escaped)</description></item></channel></rss>"
    func summary(_ html: FeedOptions.HTML) throws -> String? {
      try parsed(text, at: "https://a.test/f/", FeedOptions(html: html)).entries[0].summary?.value
    }
    #expect(try summary(.asWritten) == html)
    #expect(
      try summary(.absoluteLinks)
        == "<p onclick=x><a href='https://a.test/b?c&amp;d'>x</a> <img src=\"https://a.test/f/i.png\" srcset='https://a.test/f/i.png 1x, https://a.test/w,2/i.png 2x'></p>"
    )
    #expect(
      try summary(.sanitized)
        == "<p><a href=\"https://a.test/b?c&amp;d\" rel=\"noopener noreferrer nofollow\">x</a> <img src=\"https://a.test/f/i.png\" srcset=\"https://a.test/f/i.png 1x, https://a.test/w,2/i.png 2x\"></p>"
    )
  }

  @Test("17-Html: every text of a feed and of its entries is sanitised")
  func everyText() throws {
    func text(_ name: String) -> String {
      "<\(name) type='html'>&lt;b onclick=x>\(name)&lt;/b>&lt;script>x&lt;/script></\(name)>"
    }
    let feed = ["title", "subtitle", "rights"].map(text).joined()
    let entry = ["title", "summary", "content", "rights"].map(text).joined()
    let page = try parsed(
      "<feed xmlns='http://www.w3.org/2005/Atom'>\(feed)<entry>\(entry)</entry></feed>",
      FeedOptions(html: .sanitized))
    let (found, first) = (page.feed, try #require(page.entries.first))
    #expect(
      [found.title, found.subtitle, found.rights].map { $0?.value }
        == ["<b>title</b>", "<b>subtitle</b>", "<b>rights</b>"])
    #expect(
      [first.title, first.summary, first.content, first.rights].map { $0?.value }
        == ["<b>title</b>", "<b>summary</b>", "<b>content</b>", "<b>rights</b>"])
  }

  @Test("17-Html: references without a semicolon are read as browsers read them")
  func openReferences() throws {
    let text = FeedText("Caf&eacute &copy2020 &notit; &#8217s &foo &T", kind: .html)
    #expect(text.plain == "Café ©2020 ¬it; ’s &foo &T")
    let link = FeedText("<a href='/x?a=1&copy=2'>&copy</a>", kind: .html, base: "https://a.test/")
    #expect(
      link.withAbsoluteLinks().value == "<a href='https://a.test/x?a=1&amp;copy=2'>&copy</a>")
    // A reference without a semicolon does not turn a plain text into markup.
    let title = try parsed("<rss><channel><title>a &amp;copy b</title></channel></rss>").feed.title
    #expect(title == FeedText("a &copy b"))
  }

  @Test(
    "R11, 17-Html: what is an address in HTML is one for a list of one's own, and below a base of its own"
  )
  func addressAttributes() throws {
    var sanitizer = HTMLSanitizer()
    let names = [
      "action", "background", "data", "formaction", "longdesc", "xlink:href", "cite",
    ]
    sanitizer.attributes.formUnion(names)
    for name in names {
      let html = "<p \(name)='javascript:x'>y</p>"
      #expect(sanitizer.sanitize(html, base: "https://a.test/") == "<p>y</p>")
    }
    let document = try parsed(
      "<feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='xhtml'>"
        + "<div xmlns='http://www.w3.org/1999/xhtml'><p xml:base='https://b.test/c/'>"
        + "<img srcset='1.png 1x, /2.png 2x' alt='x'/></p></div></content></entry></feed>")
    #expect(
      document.entries[0].content?.value.contains(
        "srcset=\"https://b.test/c/1.png 1x, https://b.test/2.png 2x\"") == true)
  }

  @Test("R11: an address that would run something is no address")
  func addresses() throws {
    let document = try parsed(
      "<rss><channel><link>javascript:alert(1)</link><item><link> vbscript:x</link><guid>data:text/html,x</guid></item></channel></rss>"
    )
    #expect(document.feed.url == nil && document.entries[0].url == nil)
    #expect(document.feed.repairs.map(\.kind) == [.badAddress])
    for base in ["javascript:alert(1)//", " VBScript:x/", "data:text/html,"] {
      let (feed, entry) = ("xml:base='\(base)'", "<content type='html'>&lt;a href='y'></content>")
      let document = try parsed(
        "<feed xmlns='http://www.w3.org/2005/Atom' \(feed)><link href='h'/><entry \(feed)><link href='x'/>"
          + "<link rel='enclosure' href='e'/>\(entry)</entry></feed>", at: "https://a.test/d/",
        FeedOptions(html: .absoluteLinks))
      #expect(
        document.feed.url == "https://a.test/d/h" && document.entries[0].url == "https://a.test/d/x"
      )
      #expect(document.entries[0].enclosures.map(\.url) == ["https://a.test/d/e"])
      #expect(document.entries[0].content?.value.contains("https://a.test/d/y") == true)
    }
    let spaces = try parsed("<rss><channel><link>\n http://e.org/a b\n </link></channel></rss>")
    #expect(spaces.feed.url == "http://e.org/a%20b")
    let quotes = try parsed(
      """
      <rss><channel><link>http://e.org/"&gt;&lt;b</link><cloud domain="c.test" path="/&quot;x"/><item>
      <link>/"onclick=x</link><guid>http://e.org/"&lt;g</guid></item></channel></rss>
      """)
    #expect(quotes.feed.url == "http://e.org/%22%3E%3Cb")
    #expect(quotes.feed.hubs == [FeedHub(kind: "rssCloud", "http://c.test/%22x")])
    #expect(quotes.entries[0].url == "https://example.org/%22onclick=x")
    #expect(quotes.entries[0].canonicalURL == "http://e.org/%22%3Cg")
  }
}

extension HostileTests.Attack {
  init(name: String, text: @escaping @Sendable (Int) -> String) {
    self.init(name: name, size: 5_000, text: text)
  }
}
