/// Prints a figure that a test has measured, and the bar for it: `make bench` shows these lines.
///
/// The prefix distinguishes these lines from other output of a test run.
public func showFigure(_ what: String, _ measured: String, bar: String) {
  func column(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
  print("figure: " + column(what, 58) + column(measured, 14) + column(bar, 14) + "holds")
}
