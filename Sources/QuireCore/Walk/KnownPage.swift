/// The validators by which a page can be requested conditionally: `ETag` and `Last-Modified`, byte
/// for byte, and the request that they are valid for, secrets redacted. Source: RFC 9110, §8.8.
package struct PageVersion: Hashable, Codable, Sendable {
  package var request: String
  package var entityTag: String?
  package var lastModified: String?

  package init(request: String, entityTag: String?, lastModified: String?) {
    self.request = request
    self.entityTag = entityTag
    self.lastModified = lastModified
  }
}

/// What a consumer that keeps pages has of the page that is read next. Only this version makes the
/// request conditional: a page that another walk has seen is not a page that this consumer has.
package struct KnownPage: Sendable {
  package var version: PageVersion?
  package var next: Position?
  package var itemCount = 0

  /// Creates a value for a consumer that has nothing of the page.
  package init() {}

  package init(_ page: Page<some Any>) {
    (version, next, itemCount) = (page.head.version, page.next, page.items.count)
  }
}

extension Page {
  /// Returns the page that a consumer has, if the server said that it has not changed; else this
  /// page.
  package func filled(from known: Page?) -> Page {
    guard isUnchanged, var page = known else { return self }
    page.isUnchanged = true
    page.position = position
    page.metadata = metadata
    page.head.version = head.version
    return page
  }
}
