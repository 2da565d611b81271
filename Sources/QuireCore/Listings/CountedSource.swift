extension Cursor {
  /// A listing by offset that ends when as many items came as the server declares.
  ///
  /// The closure gets the number of items so far and returns the items from there on, and the
  /// total, which may change from page to page. A page without items short of the total is
  /// delivered, and then `PageError.Code.noProgress` is thrown: the same offset would bring the same
  /// again.
  public static func counted(
    limits: Limits = Limits(), clock: any Clock<Duration> = ContinuousClock(),
    page: @escaping @Sendable (_ offset: Int) async throws -> (items: [Item], total: Int)
  ) -> Cursor {
    Cursor(limits: limits, clock: clock) { position in
      let offset = position?.value?.integer ?? 0
      let (items, total) = try await page(offset)
      let end = offset + items.count
      var page = Page(items, total: Total(total))
      if end >= total { return page }
      if items.isEmpty {
        page.nextFailure = PageError(
          .noProgress,
          """
          The server declares \(total) items and sends none from \(offset) on; ask again later, or \
          resume from the checkpoint.
          """)
      } else {
        page.next = Position(integerLiteral: end)
      }
      return page
    }
  }
}
