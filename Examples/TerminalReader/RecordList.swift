import Quire
import QuireLists

/// A list of records in a window: what each key does to it, and what each row of it shows.
///
/// All measures are rows, and a record is one row high. Nothing here knows of a terminal.
struct RecordList {
  /// The rows around the window: a title above it, and what the keys do below.
  static let frameHeight = 4
  /// How many rows the list is pulled down to be loaded anew.
  private static let pull = 3

  /// The rows of the window.
  var height = 8

  private let records: PagedList<Record>
  private let controls: ScrollControls
  private let retry: ScrollControl
  private let placeholders = ListPlaceholders()
  /// The row of the list in the window's first row; negative while the list is pulled down.
  private var top = 0

  /// A list that loads its first page. `changed` is called for changes without a key.
  init(_ cursor: Cursor<Record>, changed: @escaping @Sendable () -> Void) {
    let records = PagedList(cursor)
    self.records = records
    controls = ScrollControls(for: records, refresh: ControlOptions(extent: Double(Self.pull)))
    retry = .loadMore { _ = try? await records.retry() }
    controls.observe(by: Changes(tell: changed))
    retry.observe(by: Changes(tell: changed))
    let states = records.states
    Task { for await _ in states { changed() } }
    controls.refresh?.begin()
  }

  private struct Changes: ControlObserver {
    let tell: @Sendable () -> Void
    func controlChanged(to state: ControlState) { tell() }
  }

  /// Whether anything is on its way.
  var isLoading: Bool {
    records.snapshot.state.isLoading
      || [controls.header, controls.footer, retry.shown].contains(.loading)
  }

  // MARK: Keys

  mutating func press(_ key: Key) {
    switch key {
    case .up: scroll(to: top - 1)
    case .down: scroll(to: top + 1)
    case .left: turn(by: -1)
    case .right: turn(by: 1)
    case .pageUp: scroll(to: max(top - height, min(top, 0)))
    case .pageDown: scroll(to: top + height)
    case .home: scroll(to: min(top, 0))
    case .end: scroll(to: .max)
    case .enter: if records.snapshot.state.error != nil { retry.begin() }
    case .quit: break
    }
  }

  /// Turns to the window-high page before or after the one at the top, if it is there.
  private mutating func turn(by pages: Int) {
    let content = Double(records.snapshot.count)
    var view = PageNavigator(
      PageAxis(.absolute(Double(height))), in: Viewport(content: content, extent: Double(height)))
    view.move(to: Double(max(top, 0)))
    view.jump(to: view.geometry.currentIndex(at: view.offset) + pages)
    scroll(to: Int(view.offset))
  }

  private mutating func scroll(to row: Int) {
    let count = records.snapshot.count
    // One row behind the records says what becomes of the list there.
    top = max(-Self.pull, min(row, max(0, count + 1 - height)))
    // This moves both controls, and reports to the list how near its end is.
    controls.scrolled(
      to: Double(top), in: Viewport(content: Double(count), extent: Double(height)),
      isTracking: true)
    // A key is no finger that could be lifted: all the way down is a release.
    if top == -Self.pull { controls.released() }
  }

  // MARK: Rows

  /// The window and its frame.
  mutating func lines(width: Int) -> [String] {
    // The list springs back when nothing holds it down any more.
    if controls.header == .none { top = max(top, 0) }
    let snapshot = records.snapshot
    let rows = (top..<top + height).map { row($0, of: snapshot, width) }
    let rule = String(repeating: "─", count: width)
    let note = snapshot.state.error?.message ?? "↑ ↓ ← → PgUp PgDn Home End   q: quit"
    return ([title(of: snapshot, width), rule] + rows + [rule, " " + note]).map { line in
      String(line.prefix(width))
    }
  }

  private func title(of snapshot: ListSnapshot<Record>, _ width: Int) -> String {
    let count = "\(snapshot.count) records"
    let state = "\(snapshot.state) "
    let space = max(1, width - " Records: ".count - count.count - state.count)
    return " Records: " + count + String(repeating: " ", count: space) + state
  }

  private func row(
    _ row: Int, of snapshot: ListSnapshot<Record>, _ width: Int
  ) -> String {
    let count = snapshot.count
    if row < 0 { return row == -2 || top == -1 ? centred(header, width) : "" }
    if let placeholder = placeholders.placeholder(in: snapshot.state, holding: count) {
      return row == height / 2 ? centred(placeholder.text, width) : ""
    }
    // Each page is a section, and what follows the last record stands where a placeholder would.
    let sections = SectionCounts(items: snapshot.pages.map(\.items.count))
    switch sections.element(at: row) {
    case .item(let path):
      let record = snapshot.pages[path.section].items[path.row]
      return " \(record.id)  \(record.name)"
    case .placeholder: return centred(footer(of: snapshot), width)
    case nil: return ""
    }
  }

  /// What stands above the list while it is pulled down.
  private var header: String {
    switch controls.header {
    case .none: ""
    case .releasing(let progress): "pull to refresh: \(Int(progress * 100)) %"
    case .loading: "refreshing …"
    }
  }

  /// What stands behind the last record.
  private func footer(of snapshot: ListSnapshot<Record>) -> String {
    if let footer = placeholders.footer(snapshot.state) { return footer.text + " (Enter)" }
    return switch snapshot.state {
    case .loadingMore: "loading more …"
    case .exhausted: "that is all"
    case .idle, .loading, .content, .empty, .loadingError, .loadingMoreError: ""
    }
  }

  private func centred(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, (width - text.count) / 2)) + text
  }
}
