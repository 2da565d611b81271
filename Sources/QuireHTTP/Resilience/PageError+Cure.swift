import QuireCore

extension PageError.Code {
  /// How far another attempt helps against a failure of the wire or of the body.
  var cure: RetryMachine.Cure {
    switch self {
    case .connectFailed, .timedOut, .truncated: .retries
    case .protocolViolation, .corruptEncoding: .oneRetry
    default: .none
    }
  }
}
