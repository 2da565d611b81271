/// Whatever shows a control: told every state it changes to, in order.
///
/// ```swift
/// struct Label: ControlObserver {
///   func controlChanged(to state: ControlState) { print(state) }
/// }
/// ```
public protocol ControlObserver: Sendable {
  /// The control shows this now. Called on whatever thread caused it.
  func controlChanged(to state: ControlState)
}
