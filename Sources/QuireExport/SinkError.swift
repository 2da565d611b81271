/// Why a destination cannot be opened, written or gone on with.
///
/// Matches in `catch` by its code: `catch SinkError.Code.inUse`.
public struct SinkError: Error, CustomStringConvertible {
  /// What kind of failure this is. Compare with the constants; new ones may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name, in lower camel case.
    public let description: String

    /// A code of your own, for a sink of your own.
    public init(_ name: String) { description = name }
  }

  /// What kind of failure this is.
  public var code: Code
  /// What failed, where, and what to do, in sentences.
  public var message: String
  /// The system's error number, where one was the reason.
  public var reason: Int32?

  /// A failure of a kind, in words.
  public init(_ code: Code, _ message: String, reason: Int32? = nil) {
    self.code = code
    self.message = message
    self.reason = reason
  }

  /// The message.
  public var description: String { message }
}

extension SinkError.Code {
  /// Whether an error is a `SinkError` of the code.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? SinkError)?.code == code
  }

  /// Another export has the destination open.
  public static let inUse = Self("inUse")
  /// The destination holds an export of another request; the message says what differs.
  public static let otherRequest = Self("otherRequest")
  /// The destination holds something that no export of Quire's wrote, or has no checkpoint of.
  public static let notOurs = Self("notOurs")
  /// What the destination holds does not fit its checkpoint, or that is damaged itself.
  public static let damaged = Self("damaged")
  /// The destination takes no more: no room, no permission, a failing disk.
  public static let writeFailed = Self("writeFailed")
  /// The reader of a pipe has gone.
  public static let closed = Self("closed")
  /// The sink cannot do what it was asked for.
  public static let unsupported = Self("unsupported")
  /// An item has no place in the destination: its key is missing, or it is no object.
  public static let unfit = Self("unfit")
}
