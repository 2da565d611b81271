extension Cursor {
  /// A listing in memory, page by page; none at all is a listing that ended before it began.
  public init(pages: [[Item]], limits: Limits = Limits()) {
    self.init(ArraySource(pages: pages), limits: limits)
  }

  /// A listing of one page, which `load` fetches in one go.
  public static func single(
    limits: Limits = Limits(), load: @escaping @Sendable () async throws -> [Item]
  ) -> Cursor {
    Cursor(limits: limits) { _ in Page(try await load()) }
  }
}

/// Pages in memory, by their indices.
struct ArraySource<Item: Sendable>: PageSource {
  let pages: [[Item]]

  func page(at position: Position?) async throws -> Page<Item>? {
    let index = position?.value?.integer ?? 0
    guard pages.indices.contains(index) else { return nil }
    return Page(
      pages[index], next: index + 1 < pages.count ? Position(integerLiteral: index + 1) : nil,
      previous: index > 0 ? Position(integerLiteral: index - 1) : nil)
  }

  func positions(after position: Position?, total: Total?, count: Int) -> [Position] {
    let index = position?.value?.integer ?? 0
    return pages.indices.dropFirst(index + 1).prefix(count).map(Position.init(integerLiteral:))
  }
}
