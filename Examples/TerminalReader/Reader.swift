import Foundation
import Quire
import QuireListModel

/// A list of records in a window, and the effect of each key.
///
/// All measures are in rows, and a record is one row high. The reader does not depend on a
/// terminal; `ReaderScreen` draws the rows.
@MainActor final class Reader {
  /// The use of typed characters: commands, the text of a filter, or the number of a record to jump
  /// to.
  enum Mode: Equatable {
    case list
    case filter(String)
    case jump(String)
  }

  /// The number of rows that the list must be pulled down for a reload.
  static let pull = 3

  /// The number of rows of the window.
  var height = 8 { didSet { scroll(to: selected) } }
  let model: ListModel<Record, Int>
  /// The control for pull to refresh, and the number of rows that the list is pulled down.
  let refresh: ScrollControl
  private(set) var pulled = 0
  /// The row in the window's first line, and the selected one. Rows before the first loaded record
  /// count.
  private(set) var top = 0
  private(set) var selected = 0
  private(set) var mode = Mode.list
  /// The message about the last key, to show in the last line.
  private(set) var note: String?
  /// The records in sections by day.
  private(set) var days = ListSections { (record: Record) in record.day }
  /// The identifiers of the records in the first row and in the selected one, so that these stay in
  /// place when records before them change.
  private var anchors: (top: Int?, selected: Int?)
  /// The removals that can be undone, latest last.
  private var removals: [(edit: ListEdit, name: String)] = []
  /// The number of running actions.
  private var busy = 0
  /// The number of jumps to distant pages in progress.
  private var seeks = 0
  /// The first row at the last search for missing records, so that each place is searched once.
  private var sought: Int?
  private let changed: @Sendable () -> Void

  /// Creates a reader that shows the pages of the store and loads the first page. `changed` is
  /// called when something has changed without a key.
  init(
    _ cursor: Cursor<Record>, store: (any ListStore<Record>)?,
    changed: @escaping @Sendable () -> Void
  ) {
    // Keeps ten pages in memory, however long the listing is.
    let options = ListOptions(
      threshold: .remaining(items: 10), thresholdBefore: .remaining(items: 10),
      window: ListWindow(pages: 10))
    let model = ListModel(cursor, options: options, store: store)
    self.model = model
    self.changed = changed
    refresh = .refresh(ControlOptions(extent: Double(Self.pull))) {
      _ = try? await model.reload()
    }
    refresh.observe(by: Pulls(tell: changed))
    let changes = model.changes
    Task { for await _ in changes { changed() } }
    run { try await $0.start() }
  }

  private struct Pulls: ControlObserver {
    let tell: @Sendable () -> Void
    func controlChanged(to state: ControlState) { tell() }
  }

  /// Whether anything is being loaded.
  var isLoading: Bool {
    let list = model.snapshot.list
    return busy > 0 || list.state.isLoading || list.isLoadingBefore || list.isLoadingAgain
      || refresh.shown == .loading
  }

  /// The number of rows: one for each record, loaded or expected, and one for the state of the
  /// list's end.
  var rowCount: Int {
    let snapshot = model.snapshot
    return snapshot.expectedBefore + snapshot.items.count + (snapshot.expectedAfter ?? 0) + 1
  }

  /// Returns the record in a row; nil if it is not loaded.
  func record(inRow row: Int) -> (index: Int, record: Record)? {
    let index = row - model.snapshot.expectedBefore
    return model.items.indices.contains(index) ? (index, model.items[index]) : nil
  }

  /// Runs an asynchronous action of the model, and shows its result when it ends.
  private func run(_ work: @escaping @MainActor (ListModel<Record, Int>) async throws -> Void) {
    busy += 1
    Task {
      try? await work(model)
      busy -= 1
      follow()
      changed()
    }
  }

  /// Applies a change of the list; the records in view stay where they are.
  func follow() {
    days.update(model.items)
    if refresh.shown == .none { pulled = 0 }
    let before = model.snapshot.expectedBefore
    if let id = anchors.top, let index = model.index(of: id) { top = before + index }
    let id = anchors.selected.flatMap { model.index(of: $0) }
    scroll(to: id.map { before + $0 } ?? selected)
  }

  // MARK: Keys

  func press(_ key: Key) {
    note = nil
    follow()
    switch (mode, key) {
    case (_, .up): up()
    case (_, .down): select(selected + 1)
    case (_, .pageUp): select(selected - height)
    case (_, .pageDown): select(selected + height)
    case (_, .home): select(0)
    case (_, .end): select(.max)
    case (.list, .character(let character)): command(character)
    case (.list, .enter): retry()
    case (.list, .escape): filter("")
    case (.list, _): break
    case (.filter(let text), _): edit(key, text, Mode.filter) { self.filter($0) }
    case (.jump(let text), _): edit(key, text, Mode.jump) { _ in }
    }
  }

  private func command(_ character: Character) {
    switch character {
    case "j": select(selected + 1)
    case "k": up()
    case " ": select(selected + height)
    case "d": remove()
    case "u": undo()
    case "/": mode = .filter("")
    case "g": mode = .jump("")
    default: break
    }
  }

  /// Handles a key while a text is typed; `changed` gets the new text.
  private func edit(
    _ key: Key, _ text: String, _ mode: (String) -> Mode, changed: (String) -> Void
  ) {
    var text = text
    switch key {
    case .character(let character): text.append(character)
    case .backspace: text = String(text.dropLast())
    case .enter:
      if case .jump = self.mode, let number = Int(text) { jump(to: number) }
      self.mode = .list
      return
    default:
      self.mode = .list
      return changed("")
    }
    self.mode = mode(text)
    changed(text)
  }

  /// Shows only the records whose name contains a text; the selected record stays selected if it is
  /// one of them.
  private func filter(_ text: String) {
    let matches: @Sendable (Record) -> Bool = { $0.name.localizedCaseInsensitiveContains(text) }
    let chosen = anchors.selected
    model.filter = text.isEmpty ? nil : matches
    days.update(model.items)
    centre(model.snapshot.expectedBefore + (chosen.flatMap { model.index(of: $0) } ?? 0))
  }

  private func jump(to number: Int) {
    seek(number - 1) { [weak self] outcome in
      switch outcome {
      case .success(nil): self?.note = "there is no record \(number)"
      // The page is loaded. Rows count from the start of the listing, as records do from 1.
      case .success: self?.centre(number - 1)
      case .failure: self?.note = "record \(number) could not be loaded: g tries again"
      }
    }
  }

  /// Jumps to the page of a record. Until it is loaded, the window's rows are not reported to the
  /// model, which would load these rows instead.
  private func seek(
    _ item: Int, then arrive: @escaping @MainActor (Result<Int?, any Error>) -> Void
  ) {
    seeks += 1
    run { [weak self] model in
      let outcome: Result<Int?, any Error>
      do {
        outcome = .success(try await model.navigate(to: .item(item)))
      } catch {
        outcome = .failure(error)
      }
      self?.seeks -= 1
      arrive(outcome)
    }
  }

  private func remove() {
    guard let (_, record) = record(inRow: selected), let edit = model.remove(record.id) else {
      return
    }
    removals.append((edit, record.name))
    note = "\(record.name) is deleted; u takes it back"
    follow()
  }

  private func undo() {
    while let (edit, name) = removals.popLast() {
      guard model.undo(edit) else { continue }
      note = "\(name) is back"
      return follow()
    }
    note = "nothing to take back"
  }

  private func retry() {
    let snapshot = model.snapshot
    guard snapshot.list.state.error != nil || snapshot.list.errorBefore != nil else { return }
    run { try await $0.retry() }
  }

  // MARK: Scrolling

  /// Moves up. At the first row this pulls the list down, and releases it when it cannot be pulled
  /// further.
  private func up() {
    guard selected == 0, model.snapshot.expectedBefore == 0 else { return select(selected - 1) }
    pulled = min(pulled + 1, Self.pull)
    let viewport = Viewport(content: Double(rowCount), extent: Double(height))
    refresh.scrolled(to: -Double(pulled), in: viewport, isTracking: true)
    // A key cannot be lifted like a finger, so pulling all the way down counts as a release.
    if pulled == Self.pull { refresh.released() }
  }

  private func select(_ row: Int) {
    if pulled > 0, refresh.shown != .loading {
      refresh.scrolled(to: 0, in: Viewport(content: 1, extent: 1), isTracking: true)
      pulled = 0
    }
    scroll(to: row)
  }

  /// Selects a row, and shows it with the rows around it.
  private func centre(_ row: Int) {
    top = max(0, row - height / 2)
    scroll(to: row)
  }

  /// Selects a row, scrolls no further than necessary, and reports the visible rows to the model.
  private func scroll(to row: Int) {
    let count = max(1, rowCount)
    selected = max(0, min(row, count - 1))
    top = max(0, min(max(top, selected - height + 1), selected, count - height))
    anchors = (record(inRow: top)?.record.id, record(inRow: selected)?.record.id)
    if model.state != .idle, seeks == 0 { model.report(visible: top..<top + height) }
    // If no row of the window is loaded, it is far from the loaded pages: jump to the page of the
    // window's middle row.
    if !model.items.isEmpty, !isLoading, count > height, sought != top,
      (top..<top + height).allSatisfy({ record(inRow: $0) == nil })
    {
      sought = top
      seek(min(top + height / 2, count - 2)) { _ in }
    }
  }
}
