package import HTTPTypes
package import QuireCore

/// What a pagination description gets to see of one answer.
package struct PageAnswer {
  /// The request as the description made it.
  package var request: PageRequest
  /// Where the answer came from after redirects: relative links start here.
  package var url: String
  package var status: Int
  package let headerFields: HTTPFields
  /// The links in `headerFields`, read once.
  let links: LinkHeader
  /// The decoded body; an `EmptyDocument` when it could not be decoded.
  package var document: any PageDocument
  /// The position that was asked for.
  package let position: Position
  /// The position, read once; nil for the plain first page.
  let sent: Bookmark?
  /// The indexes that the page may be in the middle of, by their addresses.
  var indexes: [String: [String]] = [:]

  package init(
    request: PageRequest, url: String, status: Int, headerFields: HTTPFields,
    document: any PageDocument, position: Position
  ) {
    self.request = request
    self.url = url
    self.status = status
    self.headerFields = headerFields
    links = LinkHeader(headerFields)
    self.document = document
    self.position = position
    sent = position.value == nil ? nil : try? Bookmark(position)
  }
}

/// What an answer is, before its items are looked at.
package enum Screening {
  /// A page whose items can be decoded.
  case page
  /// A page without items, whatever the body says.
  case emptyPage
  /// The news that the listing ended before this position.
  case end
  /// A failure, inside whatever status.
  case failure(PageFailure)
}

/// A failure that a description recognised.
package struct PageFailure: Hashable, Sendable {
  /// Anything but `empty`, which is a page.
  package var kind: FailureRule.Class
  /// The server's own words, where the description says where they are.
  package var message: String?
  /// How long to wait before the next attempt.
  package var delay: Duration?
  /// How long to wait where nothing in the answer says so.
  package var standardDelay: Duration?
  /// The cursor that the server gives in place of the one it no longer knows.
  package var cursor: JSONValue?

  package init(
    _ kind: FailureRule.Class, message: String? = nil, delay: Duration? = nil
  ) {
    self.kind = kind
    self.message = message
    self.delay = delay
  }
}

/// Where a page leads.
package struct Continuation {
  package var next: Position?
  /// What is wrong with the way on; raised after the page was delivered.
  package var nextFailure: PageError?
  package var previous: Position?
  /// What has to be closed if the walk goes no further.
  package var closing: Position?
  package var total: Total?
  /// Where a later walk for changes starts.
  package var resume: Position?
  /// What speaks against what was taken from the page.
  package var warnings: [WalkReport.Warning] = []
  /// What is raised after the page if it is the last one and the server declared more items than came.
  package var endDoubt: PageError?

  package init(
    next: Position? = nil, nextFailure: PageError? = nil, previous: Position? = nil,
    total: Total? = nil
  ) {
    self.next = next
    self.nextFailure = nextFailure
    self.previous = previous
    self.total = total
  }
}
