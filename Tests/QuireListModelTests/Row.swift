import QuireCore
import QuireListModel
import QuireTesting

/// An item with an identity and a value.
struct Row: Identifiable, Hashable, Codable, Sendable, CustomStringConvertible {
  var id: Int
  var text = ""

  var description: String { text.isEmpty ? "\(id)" : "\(id)\(text)" }
}

/// Pages of rows with these numbers.
func rows(_ pages: [[Int]]) -> ScriptedSource<Row> {
  ScriptedSource(items: pages.map { $0.map { Row(id: $0) } })
}

extension ListModel where Item == Row, ID == Int {
  /// What is shown, in short.
  var shown: String { items.map(\.description).joined(separator: " ") }

  convenience init(_ source: ScriptedSource<Row>, _ options: ListOptions = .byHand) {
    self.init(Cursor(source), options: options)
  }
}

extension ListOptions {
  /// Nothing is loaded ahead.
  static let byHand = ListOptions(threshold: .onDemand)
}
