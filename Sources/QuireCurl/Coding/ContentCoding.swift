import HTTPTypes
import QuireCore
import QuireHTTP

/// What was done to a body before it was sent (RFC 9110 §8.4).
enum ContentCoding: Equatable {
  case identity
  case gzip
  case deflate

  /// What the head declares. One coding at most: nested ones only ever come from attackers and
  /// misconfigured proxies.
  init(_ fields: HTTPFields) throws(PageError) {
    let names = fields[values: .contentEncoding].flatMap { $0.split(separator: ",") }
      .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      .filter { !$0.isEmpty && $0 != "identity" }
    switch names {
    case []: self = .identity
    case ["gzip"], ["x-gzip"]: self = .gzip
    case ["deflate"]: self = .deflate
    default:
      throw PageError(
        .corruptEncoding,
        "The body is encoded as \(ServerText(names.joined(separator: ", "), limit: 80)); only one gzip or "
          + "deflate is understood.")
    }
  }
}
