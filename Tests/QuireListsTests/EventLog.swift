import QuireCore
import QuireLists

extension ListEvent {
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

extension ListUpdates {
  /// Everything there is to observe of a list during `body`, which releases it at its end.
  static func during<Item>(
    _ make: () -> PagedList<Item>,
    _ observations: (PagedList<Item>) -> ListUpdates,
    _ body: (PagedList<Item>) async throws -> Void
  ) async throws -> [Element] {
    let observer: Iterator
    do {
      let list = make()
      observer = observations(list).makeAsyncIterator()
      try await body(list)
    }
    return await observer.rest()
  }
}

extension ListUpdates.Iterator {
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

/// The names of the events of a list over `source` during `body`.
func events<Item>(
  of list: @autoclosure () -> PagedList<Item>,
  _ body: (PagedList<Item>) async throws -> Void
) async throws -> [String] {
  try await ListUpdates<ListEvent<Item>>.during(list, \.events, body).map(\.name)
}

/// The names of the states of a list over `source` during `body`.
func states<Item>(
  of list: @autoclosure () -> PagedList<Item>,
  _ body: (PagedList<Item>) async throws -> Void
) async throws -> [String] {
  try await ListUpdates<ListState>.during(list, \.states, body).map { "\($0)" }
}
