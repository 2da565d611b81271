import QuireCore

/// What paths find in one answer, each looked up once: many descriptions look for the same.
///
/// A class, because a lookup changes nothing but the time the next one takes; used by one task.
final class DetectorLookups {
  private let answer: PageAnswer
  private var values: [ValueSource: JSONValue?] = [:]
  private var counts: [PagePath: Int?] = [:]
  private var items: [ItemSelector: Int?] = [:]

  init(_ answer: PageAnswer) { self.answer = answer }

  /// The value at a source; nil where there is none, or more than one.
  func value(at source: ValueSource, items: ItemSelector) -> JSONValue? {
    if case .lastItem = source { return find(source, items) }
    if let known = values[source] { return known }
    let value = find(source, items)
    values[source] = .some(value)
    return value
  }

  private func find(_ source: ValueSource, _ items: ItemSelector) -> JSONValue? {
    (try? answer.value(at: source, items: items)) ?? nil
  }

  /// How many elements the container at a path has.
  func count(at path: PagePath) -> Int? {
    if let known = counts[path] { return known }
    let count = (try? answer.document.count(at: path)) ?? nil
    counts[path] = .some(count)
    return count
  }

  /// How many items a selector finds; nil where there is no such list.
  func count(of selector: ItemSelector) -> Int? {
    if let known = items[selector] { return known }
    let count = (try? answer.document.values(at: .nowhere, inItemsOf: selector))?.count
    items[selector] = .some(count)
    return count
  }
}
