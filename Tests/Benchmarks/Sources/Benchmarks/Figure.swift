import Foundation

/// One measured number, and the bar it must hold.
struct Figure: CustomStringConvertible {
  enum Bar {
    case atMost(Double)
    case atLeast(Double)
  }

  let what: String
  let value: Double
  let unit: String
  /// nil for a number that only informs.
  let bar: Bar?

  init(_ what: String, _ value: Double, _ unit: String, _ bar: Bar? = nil) {
    self.what = what
    self.value = value
    self.unit = unit
    self.bar = bar
  }

  var holds: Bool {
    switch bar {
    case .atMost(let limit): value <= limit
    case .atLeast(let limit): value >= limit
    case nil: true
    }
  }

  var description: String {
    let measured = Self.text(value) + " " + unit
    let limit =
      switch bar {
      case .atMost(let limit): "≤ " + Self.text(limit) + " " + unit
      case .atLeast(let limit): "≥ " + Self.text(limit) + " " + unit
      case nil: ""
      }
    let verdict = bar == nil ? "" : holds ? "holds" : "MISSED"
    return Self.column(what, 58) + Self.column(measured, 14) + Self.column(limit, 14) + verdict
  }

  private static func text(_ value: Double) -> String {
    String(format: value < 10 ? "%.2f" : "%.0f", value)
  }

  private static func column(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}
