/// What a scripted transport throws when a request is not the one in its script.
public struct ScriptMismatch: Error, CustomStringConvertible {
  /// What was expected and what came.
  public let description: String

  init(_ description: String) { self.description = description }
}
