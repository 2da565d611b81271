import QuireCore

/// Keeps the secrets of a listing's first URL out of its positions (H-8).
///
/// Some servers repeat the caller's `access_token` in every next link, and positions are stored. So
/// a secret that the caller put into the first URL leaves a mark in the position, and the next
/// request, in this process or another, puts it back from the URL it starts with. The mark holds
/// `<` and `>`, which no URL does.
struct SecretParameters: Sendable {
  private static let mark = "<secret>"

  private let values: [String: String]

  /// The secret parameters of the URL that a walk starts with.
  init(of url: String) {
    let query = QueryString((try? URLReference(url))?.query)
    values = Dictionary(
      query.pairs.filter { Redactor.isSecret($0.name) && !$0.encoded.isEmpty }
        .map { ($0.name, $0.encoded) }, uniquingKeysWith: { first, _ in first })
  }

  /// The position without secrets.
  func conceal(_ position: Position) -> Position {
    rewrite(position) { name, value in
      guard let secret = values[name] else { return nil }
      let isSame = PercentEncoding.decode(value) == PercentEncoding.decode(secret)
      return isSame ? Self.mark : nil
    }
  }

  /// The position with its secrets again.
  func reveal(_ position: Position) -> Position {
    rewrite(position) { name, value in value == Self.mark ? values[name] : nil }
  }

  /// `change` returns the new encoded value of a parameter, or nil to leave it alone.
  private func rewrite(
    _ position: Position, _ change: (_ name: String, _ value: String) -> String?
  ) -> Position {
    guard !values.isEmpty, case .object(var members)? = position.value else { return position }
    for index in members.indices {
      guard let url = members[index].value.string, let mark = url.firstIndex(of: "?") else {
        continue
      }
      var query = QueryString(String(url[url.index(after: mark)...]))
      for (name, value) in query.pairs {
        if let changed = change(name, value) { query.set(name, encoded: changed) }
      }
      members[index].value = .string(url[...mark] + (query.raw ?? ""))
    }
    var position = position
    position.value = .object(members)
    return position
  }
}
