public import HTTPTypes
public import QuireCore

/// An answered page, for a closure that decides on the next one.
public struct AnsweredPage {
  /// The request that was answered.
  public let request: PageRequest
  /// The URL of the answer, after redirects.
  public let url: String
  /// The status of the answer.
  public let status: Int
  /// The header fields of the answer.
  public let headerFields: HTTPFields
  /// The decoded page, which paths query in JSON as in XML.
  public let document: any PageDocument
  /// The number of items in the page.
  public let itemCount: Int
  /// The state that the closure returned with the page before; null for the first page.
  public let state: JSONValue
}

/// A next page, as a closure requests it.
public struct NextPage: Sendable {
  /// The request for the page. Its URL is subject to the link policy, and its origin to the rules
  /// for credentials.
  public var request: PageRequest
  /// The state that the closure gets with the page's answer. It is stored in positions, so it
  /// should be small.
  public var state: JSONValue

  /// Creates a next page.
  public init(_ request: PageRequest, state: JSONValue = .null) {
    self.request = request
    self.state = state
  }
}
