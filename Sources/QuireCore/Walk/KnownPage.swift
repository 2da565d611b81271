/// What a server gave to ask by whether a page has changed: `ETag` and `Last-Modified`, byte for byte, and the
/// request that they are good for, secrets redacted. Source: RFC 9110, §8.8.
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

/// What a consumer that keeps pages has of the one that is read next. Only by that is the page asked for
/// conditionally: what other walks have seen of it is not what this consumer has.
package struct KnownPage: Sendable {
  package var version: PageVersion?
  package var next: Position?
  package var itemCount = 0

  /// Nothing.
  package init() {}

  package init(_ page: Page<some Any>) {
    (version, next, itemCount) = (page.head.version, page.next, page.items.count)
  }
}

extension Page {
  /// The page that a consumer has, where the server said that it has not changed; else this one.
  package func filled(from known: Page?) -> Page {
    guard isUnchanged, var page = known else { return self }
    page.isUnchanged = true
    page.position = position
    page.metadata = metadata
    page.head.version = head.version
    return page
  }
}
