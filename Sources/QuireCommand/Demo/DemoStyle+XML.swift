/// A style whose pages are XML. Its records hold less: XML has no numbers, and no null.
extension DemoStyle {
  static let markup: [DemoStyle] = [
    DemoStyle(
      name: "xml", summary: "XML, with the next URL in an element",
      options: ["--next", "body:/list/next", "--send", "url", "--items", "/list/records/record"],
      text: element,
      line: line
    ) { request in
      let (number, size) = (try request.number("page", or: 1), try request.size("size"))
      let slice = DemoSlice(page: number, size: size)
      let next = slice.hasMore ? request.link("page=\(number + 1)&amp;size=\(size)") : ""
      let records = slice.range.map { element($0 + 1) }.joined(separator: "\n")
      return DemoAnswer(
        mediaType: "application/xml",
        body: """
          <?xml version="1.0"?>
          <list><total>\(DemoRecords.count)</total><next>\(next)</next><records>
          \(records)
          </records></list>
          """)
    }
  ]

  private static func element(_ number: Int) -> String {
    """
    <record id="\(number)"><name>Record \(number)</name>\
    <colour>\(colours[number % colours.count].markup)</colour>\
    <tag>n\(number % 3)</tag><tag>m\(number % 5)</tag></record>
    """
  }

  private static func line(_ number: Int) -> String {
    """
    {"@id":"\(number)","name":"Record \(number)",\
    "colour":"\(colours[number % colours.count].text)",\
    "tag":["n\(number % 3)","m\(number % 5)"]}
    """
  }

  private static let colours: [(markup: String, text: String)] = [
    ("red", "red"), ("gr&#xFC;n", "grün"), ("<![CDATA[bleu]]>", "bleu"), ("синий", "синий"),
    ("黄色 &amp; 白", "黄色 & 白"),
  ]
}
