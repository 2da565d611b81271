import QuireCore

extension PaginatorEvent {
  /// The event in the words of the rows.
  var name: String {
    switch self {
    case .changed(_, let state): "\(state)"
    case .reloaded(let page): "didReload(\(page.items.count))"
    case .appended(let page): "didLoad(\(page.items.count))"
    case .prepended(_, let shift): "shift(\(shift))"
    case .canLoadMore(let can): "canLoadMore(\(can))"
    case .cleared: "clear"
    }
  }
}

extension Observations {
  /// Everything there is to observe of a paginator during `body`, which lets go of it at its end.
  static func during<Item>(
    _ make: () -> Paginator<Item>,
    _ observations: (Paginator<Item>) -> Observations,
    _ body: (Paginator<Item>) async throws -> Void
  ) async throws -> [Element] {
    let listener: Iterator
    do {
      let paginator = make()
      listener = observations(paginator).makeAsyncIterator()
      try await body(paginator)
    }
    return await listener.rest()
  }
}

extension Observations.Iterator {
  /// What comes until nothing can come any more.
  func rest() async -> [Element] {
    var iterator = self
    var elements: [Element] = []
    while let element = await iterator.next() { elements.append(element) }
    return elements
  }

  /// What comes next, and the `count` − 1 after it.
  func next(_ count: Int) async -> [Element] {
    var iterator = self
    var elements: [Element] = []
    while elements.count < count, let element = await iterator.next() { elements.append(element) }
    return elements
  }
}

/// The names of the events of a paginator over `source` during `body`.
func events<Item>(
  of paginator: @autoclosure () -> Paginator<Item>,
  _ body: (Paginator<Item>) async throws -> Void
) async throws -> [String] {
  try await Observations<PaginatorEvent<Item>>.during(paginator, \.events, body).map(\.name)
}

/// The names of the states of a paginator over `source` during `body`.
func states<Item>(
  of paginator: @autoclosure () -> Paginator<Item>,
  _ body: (Paginator<Item>) async throws -> Void
) async throws -> [String] {
  try await Observations<PaginatorState>.during(paginator, \.states, body).map { "\($0)" }
}
