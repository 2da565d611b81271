/// A response body, pulled in slices by one reader.
///
/// The last slice is followed by nil only if the body is complete: its declared length was
/// received, its chunks were closed, its coding's checksum held. Anything less throws `truncated`
/// or `corruptEncoding`.
public struct TransportBody: Sendable {
  private let pull: @Sendable () async throws -> [UInt8]?
  private let measure: @Sendable () -> TransferMetrics

  /// A body that `next` hands out in slices of any size, none of them empty, then nil.
  ///
  /// `metrics` is read after the end, but for its `wireRequests`, which is read with the head: nothing
  /// is repeated later. Dropping the body must abort the transfer: let the closures own what does.
  public init(
    next: @escaping @Sendable () async throws -> [UInt8]?,
    metrics: @escaping @Sendable () -> TransferMetrics = { TransferMetrics() }
  ) {
    pull = next
    measure = metrics
  }

  /// A body that is already here.
  public static func bytes(_ bytes: [UInt8]) -> TransportBody {
    slices(bytes.isEmpty ? [] : [bytes])
  }

  /// A body that is already here, in these slices.
  public static func slices(_ slices: [[UInt8]]) -> TransportBody {
    let source = SliceSource(slices)
    return TransportBody(
      next: { source.next() }, metrics: { TransferMetrics(wireBytes: source.total) })
  }

  /// The next slice, or nil when the body is complete.
  public func next() async throws -> [UInt8]? { try await pull() }

  /// What the transfer took; whole only after the end.
  public var metrics: TransferMetrics { measure() }
}
