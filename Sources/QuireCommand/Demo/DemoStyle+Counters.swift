/// Styles in which the client counts: offsets, page numbers, the last id it saw.
extension DemoStyle {
  static let counters: [DemoStyle] = [
    DemoStyle(
      name: "offset-limit", summary: "offset and limit, with a total",
      options: [
        "--next", "offset", "--send", "query:offset", "--end", "total:/total", "--items", "/items",
      ]
    ) { request in
      let slice = DemoSlice(
        offset: try request.number("offset", or: 0), size: try request.size("limit"))
      return DemoAnswer(body: "{\"items\": \(slice.list), \"total\": \(DemoRecords.count)}")
    },
    DemoStyle(
      name: "total-pages", summary: "page numbers, with the number of pages",
      options: ["--preset", "totalPages"]
    ) { request in
      let size = try request.size("per_page")
      let slice = DemoSlice(page: try request.number("page", or: 1), size: size)
      let pages = (DemoRecords.count + size - 1) / size
      return DemoAnswer(
        body: "{\"data\": \(slice.list), \"meta\": {\"total_pages\": \(pages)}}")
    },
    DemoStyle(
      name: "pages", summary: "page numbers until a page is empty", options: ["--preset", "pages"]
    ) { request in
      let slice = DemoSlice(
        page: try request.number("page", or: 1), size: try request.size("per_page"))
      return DemoAnswer(body: slice.list)
    },
    DemoStyle(
      name: "spring", summary: "page numbers from 0, with a flag on the last page",
      options: ["--preset", "spring"]
    ) { request in
      let size = try request.size("size")
      let slice = DemoSlice(offset: try request.number("page", or: 0) * size, size: size)
      return DemoAnswer(body: "{\"content\": \(slice.list), \"last\": \(!slice.hasMore)}")
    },
    DemoStyle(
      name: "stripe", summary: "the last id as the cursor, with has_more",
      options: ["--preset", "stripe"]
    ) { request in
      let slice = DemoSlice(
        offset: try request.number("starting_after", or: 0), size: try request.size("limit"))
      return DemoAnswer(
        body: "{\"object\": \"list\", \"data\": \(slice.list), \"has_more\": \(slice.hasMore)}")
    },
  ]
}
