import Quire
import QuireListModel

/// The screen of a reader, as lines of text.
extension Reader {
  /// The number of lines around the window: above it a title and the day of the first visible
  /// record, below it a rule and the state.
  static var frameHeight: Int { 4 }

  /// Returns the lines of the screen: the window with its frame.
  func lines(width: Int) -> [String] {
    follow()
    let rows = (top - pulled..<top - pulled + height).map { line(ofRow: $0, width) }
    let rule = String(repeating: "─", count: width)
    return ([title(width), pinned(width)] + rows + [rule, " " + bottom(width - 1)]).map { line in
      String(line.prefix(width))
    }
  }

  private func title(_ width: Int) -> String {
    let snapshot = model.snapshot
    var count = "\(snapshot.list.loaded)"
    if let total = snapshot.list.total, total.kind == .items { count += " of \(total.value)" }
    if snapshot.isFiltered { count = "\(snapshot.items.count) found in " + count }
    let state = snapshot.refreshError != nil ? "offline" : Self.words(for: snapshot.list.state)
    return spread(" Records: \(count)", state + (snapshot.list.isStale ? ", stale " : " "), width)
  }

  private static func words(for state: ListState) -> String {
    switch state {
    case .idle: ""
    case .loading: "loading …"
    case .content: "more to come"
    case .loadingMore: "loading more …"
    case .empty: "empty"
    case .exhausted: "all loaded"
    case .loadingError, .loadingMoreError: "failed"
    }
  }

  /// Returns the line above the window, with the day of its first record.
  private func pinned(_ width: Int) -> String {
    let first = (top..<top + height).lazy.compactMap { self.record(inRow: $0)?.index }.first
    let day = first.flatMap { self.days.header(atItem: $0)?.key }
    let label = day.map { "── \($0) " } ?? ""
    return label + String(repeating: "─", count: max(0, width - label.count))
  }

  private func line(ofRow row: Int, _ width: Int) -> String {
    if row < top { return row == top - pulled ? centred(header, width) : "" }
    switch model.snapshot.content {
    case .loading: return row - top < 3 ? "   ░░░░  ░░░░░░░░░░" : ""
    case .empty: return row - top == height / 2 ? centred("no records", width) : ""
    case .noMatches: return row - top == height / 2 ? centred("no record is like that", width) : ""
    case .failed(let error):
      let lines = wrapped(error.message, width - 4) + ["", "Enter: try again"]
      let index = row - top - height / 2
      return lines.indices.contains(index) ? centred(lines[index], width) : ""
    case .items: break
    }
    guard let (index, record) = record(inRow: row) else { return edge(ofRow: row, width) }
    let mark = row == selected ? ">" : " "
    let isFirst = days.path(ofItem: index)?.row == 0
    let text = "\(mark)\(record.id)  \(record.name)"
    return isFirst && row > top ? spread(text, record.day + " ", width) : text
  }

  /// Returns the line of a row without a record: an expected row, or the state of that end of the
  /// list.
  private func edge(ofRow row: Int, _ width: Int) -> String {
    let snapshot = model.snapshot
    let isBefore = row < snapshot.expectedBefore
    let mark = row == selected ? ">" : " "
    let isBeside =
      row == snapshot.expectedBefore - 1 || row == snapshot.expectedBefore + snapshot.items.count
    switch snapshot.edge(isBefore ? .leading : .trailing) {
    case .failed where isBeside: return centred("could not be loaded (Enter)", width)
    case .loading where isBeside: return centred("loading more …", width)
    case .end where !isBefore && row == rowCount - 1: return centred("that is all", width)
    default: return row < rowCount - 1 ? mark + "·" : ""
    }
  }

  /// The text above the list while it is pulled down.
  private var header: String {
    switch refresh.shown {
    case .none: ""
    case .releasing(let progress): "pull to refresh: \(Int(progress * 100)) %"
    case .loading: "refreshing …"
    }
  }

  private func bottom(_ width: Int) -> String {
    switch mode {
    case .filter(let text): return "filter: \(text)_"
    case .jump(let text): return "go to record: \(text)_"
    case .list: break
    }
    if let note { return note }
    if let error = model.snapshot.refreshError { return "Enter: try again. " + error.message }
    let keys =
      model.snapshot.isFiltered ? ["Esc: show all", "/: filter"] : ["/: filter", "g: go to"]
    let helps = [
      ["↑ ↓ PgUp PgDn Home End", "d: delete", "u: undo"] + keys + ["q: quit"],
      ["d: delete", "u: undo"] + keys + ["q: quit"], ["d", "u", "/", "g", "q: quit"],
    ].map { $0.joined(separator: "  ") }
    return helps.first { $0.count <= width } ?? "q: quit"
  }

  /// Returns the lines of a text, wrapped at word boundaries.
  private func wrapped(_ text: String, _ width: Int) -> [String] {
    text.split(separator: " ").reduce(into: [""]) { lines, word in
      let last = lines[lines.count - 1]
      if last.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if last.count + 1 + word.count <= width {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(String(word))
      }
    }
  }

  private func spread(_ left: String, _ right: String, _ width: Int) -> String {
    left + String(repeating: " ", count: max(1, width - left.count - right.count)) + right
  }

  private func centred(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, (width - text.count) / 2)) + text
  }
}
