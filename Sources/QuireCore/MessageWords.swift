// How messages word lists, numbers and durations.

extension [String] {
  /// Returns the texts as a sentence lists them: `a, b and c`.
  package func listed(_ conjunction: String = "and") -> String {
    guard count > 1, let last else { return joined() }
    return "\(dropLast().joined(separator: ", ")) \(conjunction) \(last)"
  }
}

extension Int {
  /// Returns the number with its noun, in the plural unless it is one: `3 pages`.
  package func counted(_ one: String, _ many: String? = nil) -> String {
    "\(self) " + (self == 1 ? one : many ?? one + "s")
  }
}

extension BinaryInteger {
  /// Returns the digits of a number that is not negative, with zeros in front up to `width`.
  package func padded(to width: Int, radix: Int = 10) -> String {
    let digits = String(self, radix: radix)
    return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}

extension Duration {
  /// The duration rounded for people: `120 ms`, `3.2 s`, `15 min`, `1 h 5 min`.
  package var words: String {
    let milliseconds = self / .milliseconds(1)
    if milliseconds == 0 { return "0 s" }
    if milliseconds < 10 { return "\((milliseconds * 100).rounded() / 100) ms" }
    if milliseconds < 1_000 { return "\(Int(milliseconds.rounded())) ms" }
    if milliseconds < 10_000 { return "\((milliseconds / 100).rounded() / 10) s" }
    // Limited to what 64 bits hold, however long a pause a server asks for.
    let seconds = Int(min(milliseconds / 1_000, 9e18).rounded())
    let parts =
      seconds < 3_600
      ? [(seconds / 60, "min"), (seconds % 60, "s")]
      : [(seconds / 3_600, "h"), (seconds / 60 % 60, "min")]
    return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
  }
}
