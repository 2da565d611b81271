import HTTPTypes
import QuireCore

// By what a walk knows that it was somewhere before: not by how a server spells the way there, but by
// the request that it leads to.

extension HTTPPageSource: RequestingSource {
  func identity(of position: Position) -> Int {
    guard let listing = try? listing.get() else { return position.hashValue }
    guard position.value != nil else {
      return listing.identity(of: listing.engine.first, itemOffset: position.itemOffset)
    }
    guard let revealed = try? listing.reveal(position.page),
      let bookmark = try? Bookmark(revealed),
      let request = try? listing.engine.request(at: revealed)
    else { return position.hashValue }
    return listing.identity(of: request, at: bookmark, itemOffset: position.itemOffset)
  }
}

extension Listing {
  /// A hash of a request, and of what a position holds besides that leads to other pages: what was
  /// begun again, what a closure remembers, and the indexes that a page is looked up in.
  func identity(
    of request: PageRequest, at bookmark: Bookmark? = nil, itemOffset: Int = 0
  ) -> Int {
    var hasher = Hasher()
    request.hashMeaning(into: &hasher)
    hasher.combine(itemOffset)
    hasher.combine(bookmark?.restarts ?? 0)
    hasher.combine(bookmark?.state)
    hasher.combine(bookmark?.within ?? [])
    return hasher.finalize()
  }
}

extension PageRequest {
  /// Hashes what the request asks for, however it is spelt: scheme and host in any case, the default
  /// port named or not, dots in the path, percent-encoding where none was needed, and parameters of
  /// different names in any order (RFC 3986, §6.2.2 and §6.2.3).
  func hashMeaning(into hasher: inout Hasher) {
    hasher.combine(method.rawValue)
    hasher.combine(headerFields)
    hasher.combine(body)
    guard let reference = try? URLReference(url), let origin = try? Origin(reference) else {
      hasher.combine(url)
      return
    }
    hasher.combine(origin)
    for segment in reference.pathWithoutDots.split(separator: "/", omittingEmptySubsequences: false)
    {
      hasher.combine(PercentEncoding.decodedBytes(segment))
    }
    let parameters = QueryString(reference.query).pairs
    let names = parameters.map(\.name)
    for index in parameters.indices.sorted(by: { (names[$0], $0) < (names[$1], $1) }) {
      hasher.combine(names[index])
      hasher.combine(PercentEncoding.decodedBytes(parameters[index].encoded, plusIsSpace: true))
    }
  }
}

extension URLReference {
  /// The path as it goes over the wire: never empty, and without `.` and `..`.
  fileprivate var pathWithoutDots: String {
    path.isEmpty ? "/" : URLReference(path: path).resolved(against: self).path
  }

  private init(path: String) {
    self.path = path
  }
}
