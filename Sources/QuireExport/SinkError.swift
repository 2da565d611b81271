/// The reason why a destination cannot be opened, written or continued.
///
/// Matches in `catch` by its code: `catch SinkError.Code.inUse`.
public struct SinkError: Error, CustomStringConvertible {
  /// The kind of a failure. Compare it with the constants; versions of Quire may add more.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, in lower camel case.
    public let description: String

    /// Creates a code for a custom sink.
    public init(_ name: String) { description = name }
  }

  /// The kind of the failure.
  public var code: Code
  /// A text that says what failed, where, and what to do, in sentences.
  public var message: String
  /// The `errno` that caused the failure; nil if there was none.
  public var reason: Int32?
  /// Whether a page was refused before anything of it was written, so that the pages before it can
  /// be committed.
  var sparesEarlierPages = false

  /// Creates an error.
  public init(_ code: Code, _ message: String, reason: Int32? = nil) {
    self.code = code
    self.message = message
    self.reason = reason
  }

  /// The error's `message`.
  public var description: String { message }
}

extension SinkError.Code {
  /// Returns whether an error is a `SinkError` with the code.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? SinkError)?.code == code
  }

  /// Another export has the destination open.
  public static let inUse = Self("inUse")
  /// The destination holds an export of another request; the message says what differs.
  public static let otherRequest = Self("otherRequest")
  /// The destination holds something that no export of Quire's wrote, or an export without its
  /// checkpoint.
  public static let notOurs = Self("notOurs")
  /// The content of the destination does not match its checkpoint, or the checkpoint itself is
  /// damaged.
  public static let damaged = Self("damaged")
  /// The destination cannot be written: it has no room, no permission, or a failing disk.
  public static let writeFailed = Self("writeFailed")
  /// The reader of a pipe has gone.
  public static let closed = Self("closed")
  /// The sink cannot do what it was asked for.
  public static let unsupported = Self("unsupported")
  /// An item does not fit the destination: its key is missing, or it is not an object.
  public static let unfit = Self("unfit")
}
