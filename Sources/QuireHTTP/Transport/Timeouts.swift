/// How long each phase of a request may take.
///
/// Waiting for a free connection counts in none of them: a thousand requests to one host queue up
/// without any of them being late. Nor does it count that a server has to wait for whoever reads the
/// body.
public struct Timeouts: Hashable, Sendable {
  /// For the connection, name look-up and TLS handshake included. Default 10 s.
  public var connect: Duration
  /// From when the request goes out to the end of the response head. Default 30 s.
  public var head: Duration
  /// How long fewer than 64 bytes of the body a second may arrive. Default 20 s.
  public var stall: Duration
  /// From when the request goes out to the end of the body. Default 60 s.
  public var total: Duration

  /// Timeouts; every parameter has the default of its property.
  public init(
    connect: Duration = .seconds(10), head: Duration = .seconds(30), stall: Duration = .seconds(20),
    total: Duration = .seconds(60)
  ) {
    self.connect = connect
    self.head = head
    self.stall = stall
    self.total = total
  }

  /// For an API that is trusted to mean well.
  public static let api = Timeouts()
}
