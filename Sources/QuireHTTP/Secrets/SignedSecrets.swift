import HTTPTypes
import QuireCore
import Synchronization

/// What a signer has put into a walk's requests: as secret as what the caller puts there.
///
/// A signature changes with each request, so that those of the last ones are kept.
final class SignedSecrets: Sendable {
  /// The newest first.
  private let secrets = Mutex<[Secret]>([])
  private static let most = 32

  /// The secrets of the last requests; those of one id from the newest to the oldest.
  var all: [Secret] { secrets.withLock { $0 } }

  /// Takes in what a signer made of a request.
  func note(_ signed: TransportRequest, of plain: TransportRequest) {
    var list = SecretList()
    let before = plain.head.headerFields
    for field in signed.head.headerFields
    where !Redactor.harmlessFields.contains(field.name)
      && !before[fields: field.name].contains(field)
    {
      for part in Secret.parts(of: field) {
        list.add("signer.field", field.name.canonicalName, part.utf8)
      }
    }
    if signed.head.path != plain.head.path { noteURL(signed, of: plain, in: &list) }
    if signed.body != plain.body {
      for (name, value) in BodySecrets.all(in: signed.body) {
        list.add("signer.body", name, value.utf8)
      }
    }
    let new = list.secrets.filter(\.isTelling)
    guard !new.isEmpty else { return }
    secrets.withLock { secrets in
      guard !new.allSatisfy(secrets.contains) else { return }
      secrets = Array((new + secrets.filter { !new.contains($0) }).prefix(Self.most))
    }
  }

  private func noteURL(
    _ signed: TransportRequest, of plain: TransportRequest, in list: inout SecretList
  ) {
    guard let new = try? URLReference(signed.url), let old = try? URLReference(plain.url) else {
      return
    }
    let known = QueryString(old.query).pairs.map(\.encoded)
    for (name, value) in QueryString(new.query).pairs where !known.contains(value) {
      list.add("signer.query", name, PercentEncoding.decodedBytes(value))
    }
    let segments = old.path.split(separator: "/")
    for segment in new.path.split(separator: "/") where !segments.contains(segment) {
      list.add("signer.path", "segment", PercentEncoding.decodedBytes(segment))
    }
  }

  /// Whether a position stands for what a signer puts into requests, and no request was signed yet.
  func isNeeded(for position: Position) -> Bool {
    guard SecretParameters.isMarked(position) else { return false }
    let known = Set(all.map(\.id))
    return SecretParameters.marks(in: position).contains {
      $0.hasPrefix("signer.") && !known.contains($0)
    }
  }
}
