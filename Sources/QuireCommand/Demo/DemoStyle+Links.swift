/// Styles whose pages carry the whole URL of the next one.
extension DemoStyle {
  static let links: [DemoStyle] = [
    DemoStyle(
      name: "link-header", summary: "Link: <…>; rel=\"next\" (RFC 8288)",
      options: ["--preset", "linkHeader"]
    ) { request in
      let (slice, next) = try page(request, number: "page", size: "per_page")
      return DemoAnswer(headers: linkHeader(next), body: slice.list)
    },
    DemoStyle(
      name: "gitlab", summary: "Link header and X-Total", options: ["--preset", "gitlab"]
    ) { request in
      let (slice, next) = try page(request, number: "page", size: "per_page")
      let total = (name: "X-Total", value: "\(DemoRecords.count)")
      return DemoAnswer(headers: linkHeader(next) + [total], body: slice.list)
    },
    DemoStyle(
      name: "drf", summary: "next URL in the body, as in Django REST framework",
      options: ["--preset", "drf"]
    ) { request in
      let (slice, next) = try page(request, number: "page", size: "page_size")
      return DemoAnswer(
        body: """
          {"count": \(DemoRecords.count), "next": \(text(next)), "previous": null, \
          "results": \(slice.list)}
          """)
    },
    DemoStyle(
      name: "datasette", summary: "next_url in the body, as in Datasette",
      options: ["--preset", "datasette"]
    ) { request in
      let slice = try DemoSlice(token: request.query["_next"], size: request.size("_size"))
      let next = slice.hasMore ? request.link("_next=a%2Fb%2B\(slice.range.upperBound)%3D%3D") : nil
      return DemoAnswer(
        body: """
          {"rows": \(slice.list), "next": \(slice.nextTokenText), "next_url": \(text(next)), \
          "count": \(DemoRecords.count)}
          """)
    },
    DemoStyle(
      name: "json-api", summary: "links.next in the body (JSON:API)",
      options: ["--preset", "jsonAPI"],
      line: { "{\"type\":\"records\",\"id\":\"\($0)\",\"attributes\":\(DemoRecords.line($0))}" }
    ) { request in
      let (slice, next) = try page(request, number: "page[number]", size: "page[size]")
      let list = DemoRecords.list(slice.range) {
        "{\"type\": \"records\", \"id\": \"\($0)\", \"attributes\": \($1)}"
      }
      return DemoAnswer(body: "{\"data\": \(list), \"links\": {\"next\": \(text(next))}}")
    },
    DemoStyle(
      name: "hal", summary: "_links.next.href in the body, absent on the last page (HAL)",
      options: ["--preset", "hal", "--items", "/_embedded/records"]
    ) { request in
      let (slice, next) = try page(request, number: "page", size: "size")
      let links = next.map { "{\"next\": {\"href\": \"\($0)\"}}" } ?? "{}"
      return DemoAnswer(
        body: """
          {"_embedded": {"records": \(slice.list)}, "_links": \(links), \
          "page": {"totalElements": \(DemoRecords.count)}}
          """)
    },
    DemoStyle(
      name: "odata", summary: "@odata.nextLink in the body (OData 4)",
      options: ["--preset", "odata"]
    ) { request in
      let size = try request.size("$top")
      let slice = DemoSlice(offset: try request.number("$skip", or: 0), size: size)
      let link = request.link("%24skip=\(slice.range.upperBound)&%24top=\(size)")
      let next = slice.hasMore ? ", \"@odata.nextLink\": \"\(link)\"" : ""
      return DemoAnswer(
        body: "{\"@odata.count\": \(DemoRecords.count), \"value\": \(slice.list)\(next)}")
    },
  ]

  /// A numbered page and the link to the one after it.
  private static func page(
    _ request: DemoRequest, number: String, size: String
  ) throws -> (slice: DemoSlice, next: String?) {
    let page = try request.number(number, or: 1)
    let count = try request.size(size)
    let slice = DemoSlice(page: page, size: count)
    guard slice.hasMore else { return (slice, nil) }
    let (pageName, sizeName) = (escaped(number), escaped(size))
    return (slice, request.link("\(pageName)=\(page + 1)&\(sizeName)=\(count)"))
  }

  private static func escaped(_ name: String) -> String {
    name.replacing("[", with: "%5B").replacing("]", with: "%5D")
  }

  private static func linkHeader(_ next: String?) -> [(name: String, value: String)] {
    next.map { [(name: "Link", value: "<\($0)>; rel=\"next\"")] } ?? []
  }

  private static func text(_ link: String?) -> String { link.map { "\"\($0)\"" } ?? "null" }
}
