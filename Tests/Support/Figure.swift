/// A figure that a test has counted, and the bar that it has held: `make bench` shows these lines.
///
/// Prefixed so that they are told from whatever else a test run prints.
public func showFigure(_ what: String, _ measured: String, bar: String) {
  func column(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
  print("figure: " + column(what, 58) + column(measured, 14) + column(bar, 14) + "holds")
}
