/// Writes a line for each state of a control, for those who look for a mistake.
public struct ControlLog: ControlObserver {
  private let name: String
  private let write: @Sendable (String) -> Void

  /// Lines that begin with `name`, written by `write`.
  public init(_ name: String, write: @escaping @Sendable (String) -> Void) {
    self.name = name
    self.write = write
  }

  /// Writes a line.
  public func controlChanged(to state: ControlState) { write("\(name): \(state)") }
}
