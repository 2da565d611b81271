import QuireHTTP
import Quire
import Testing

/// What an item holds never stands for what the page says.
@Suite("Paths that search", .timeLimit(.minutes(15)))
struct OutsideItemsTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var name: String
    var pagination: Pagination
    var pages: [String]
    /// Where the second request goes.
    var second = "/?at=2"

    var testDescription: String { name }

    init(_ name: String, _ pagination: Pagination, _ pages: String...) {
      self.name = name
      self.pagination = pagination
      self.pages = pages
    }
  }

  private static func next(
    _ path: PagePath, end: [Pagination.End] = [], items: Pagination.Items
  ) -> Pagination {
    Pagination(next: .body(path), send: .query("at"), end: end, items: items)
  }

  static let listings = [
    Case(
      "a continuation", next("//n", items: "/l/i"),
      "<l><i><n>9</n></i><d><m><n>2</n></m></d></l>", "<l><i><n>9</n></i></l>"),
    Case(
      "an attribute", next("//@n", items: "//i"), "<l><i n='9'/><p n='2'/></l>",
      "<l><i n='9'><p n='8'/></i></l>"),
    Case(
      "an attribute of a start tag", next("//p/@n", items: "/l/i"),
      "<l><i><p n='9'/></i><d><d><p n='2'/></d></d></l>", "<l><i><p n='9'/></i></l>"),
    Case(
      "any name on the way", next("/l/*/n", items: "/l/i"),
      "<l><i><n>9</n></i><d><n>2</n></d></l>", "<l><i><n>9</n></i><d/></l>"),
    Case(
      "items that are whatever the root holds", next("//n", items: ""),
      "<l><i><n>9</n></i><n>2</n></l>", "<l><i><n>9</n></i></l>"),
    Case(
      "items at several places", next("//n", items: .all(["/l/i", "/l/j"])),
      "<l><j><n>9</n></j><d><m><n>2</n></m></d><i/></l>", "<l><i/><j><n>9</n></j></l>"),
    Case(
      "a flag", next("/l/n", end: [.flag("//more")], items: "/l/i"),
      "<l><i><more>false</more></i><n>2</n></l>",
      "<l><i><more>true</more></i><d><e><more>false</more></e></d><n>3</n></l>"),
    Case(
      "a mark of the last page", next("/l/n", end: [.bodyHas("//last")], items: "/l/i"),
      "<l><i><last/><last>1</last></i><n>2</n></l>", "<l><i/><d><last>1</last></d><n>3</n></l>"),
    Case(
      "a number of pages",
      Pagination(
        next: .pageNumber, send: .query("at"), end: [.pages("//pages")], items: "/l/i"),
      "<l><i><pages>1</pages></i><d><d><pages>2</pages></d></d></l>",
      "<l><i><pages>9</pages></i><d><d><pages>2</pages></d></d></l>"),
    Case(
      "a failure",
      Pagination(
        next: .body("/l/n"), send: .query("at"), items: "/l/i",
        policy: Pagination.Policy(failure: [Pagination.FailureRule(when: .value("//Error/Code"))])),
      "<l><i><Error><Code>x</Code></Error></i><n>2</n></l>", "<l><i/></l>"),
    Case(
      "a continuation in JSON", next("/*/n", items: "/i"),
      #"{"i":[{"n":9}],"p":{"n":2}}"#, #"{"i":[{"n":9}],"p":{}}"#),
    Case(
      "a continuation in JSON, deeper", next("/*/*/n", items: "/i"),
      #"{"i":[{"n":9}],"p":{"q":{"n":2}}}"#, #"{"i":[{"n":9}],"p":{}}"#),
    Case(
      "members of an object", next("/*/*/n", items: .members("/i")),
      #"{"i":{"a":{"n":9}},"p":{"q":{"n":2}}}"#, #"{"i":{"a":{"n":9}}}"#),
    Case(
      "items that are matches", next("/g/*/i/n", items: "/g/*/i"),
      #"{"g":[{"i":{"n":9}},{"i":[]}],"n":2}"#, ""),
    Case(
      "a flag in JSON", next("/n", end: [.flag("/*/*/more")], items: "/i"),
      #"{"i":[{"more":false}],"p":{"q":{"more":true}},"n":2}"#,
      #"{"i":[{"more":true}],"p":{"q":{"more":false}},"n":3}"#),
  ]

  @Test(
    "12-S3: a path with // or * finds what leads on, flags, totals and failures outside of items only",
    arguments: listings)
  func outside(_ listing: Case) async throws {
    let pages = listing.pages.filter { !$0.isEmpty }
    let server = Answers(pages.map { Answers.Answer(stringLiteral: $0) })
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    _ = try await PageClient(transport: server, configuration: configuration)
      .drain(listing.pagination)
    #expect(server.targets == (pages.count == 1 ? ["/"] : ["/", "/?at=2"]))
  }

  @Test("12-S3: the preset awsQuery is not steered by what an item says")
  func awsQuery() async throws {
    let server = Answers([
      """
      <R><X><Users><member><Marker>evil</Marker><IsTruncated>false</IsTruncated></member></Users>\
      <IsTruncated>true</IsTruncated><Marker>2</Marker></X></R>
      """,
      """
      <R><X><Users><member><Marker>evil</Marker><NextToken>evil</NextToken><Error><Code>\
      Throttling</Code></Error></member></Users></X></R>
      """,
    ])
    let items = try await PageClient(transport: server).drain(
      .awsQuery.items(at: "/R/X/Users/member"),
      request: .init(method: .post, body: .form("Action=ListUsers")))
    #expect(items.count == 2)
    #expect(server.asked.map(\.body) == ["Action=ListUsers", "Action=ListUsers&Marker=2"])
  }

  @Test("12-S3: a link to the page before, and xml:base, are not an item's either")
  func previousAndBase() async throws {
    let server = Answers([
      """
      <l><i xml:base='https://l.test/evil/'><x><n>9</n></x></i>
      <d xml:base='https://l.test/base/'><e><n>two</n></e></d></l>
      """,
      "<l><i><p>evil</p></i><d><d><p>/first</p></d></d></l>",
    ])
    let cursor = PageClient(transport: server).cursor(
      of: RawItem.self, at: "https://l.test/",
      pagination: Pagination(
        next: .body("//n"), items: "/l/i", previous: Pagination.PreviousRule(.body("//p"))))
    var previous: [Position?] = []
    for try await page in cursor { previous.append(page.previous) }
    #expect(server.targets == ["/", "/base/two"])
    #expect("\(previous)".contains("https://l.test/first"))
    #expect(!"\(previous)".contains("evil"))
  }

  @Test(
    "12-S3: items that arrive one by one say the same as those of a whole page, and a field does")
  func delivery() async throws {
    let page = "<l><d><d><n>2</n></d></d><i><n>9</n></i><i><n>8</n></i></l>"
    let pagination = Self.next("//n", items: "/l/i")
    for delivery in [PageDelivery.whole, .asItArrives] {
      let server = Answers([Answers.Answer(stringLiteral: page), "<l><i><n>9</n></i></l>"])
      let items = try await PageClient(transport: server).drain(pagination, delivery: delivery)
      #expect(items.count == 3)
      #expect(server.targets == ["/", "/?at=2"])
    }
    let server = Answers(["<l><i><n>9</n></i></l>"])
    for try await page in PageClient(transport: server).cursor(
      of: RawItem.self, at: "https://l.test/", pagination: pagination)
    {
      #expect(try page.field("//n") == nil)
      #expect(try page.field("/l/i/n") == "9")
      #expect(try page.http?.document.count(at: "//i", outsideItemsOf: "/l/i") == 1)
    }
  }

  @Test("12-S3: a path that names every step goes where it says, into an item too")
  func named() async throws {
    let server = Answers(["<l><i><n>2</n></i></l>", "<l><i/></l>"])
    _ = try await PageClient(transport: server).drain(
      Self.next("/l/i[last()]/n", items: "/l/i"))
    #expect(server.targets == ["/", "/?at=2"])
  }
}
