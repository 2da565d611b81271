/// What is a failure, which links are followed, and what an unchanged cursor means.
///
/// Encodes as `{"failure": [rules], "links": policy, "handle": true}`, with only what differs from
/// the default.
public struct PagePolicy: Hashable, Sendable {
  /// Answers that are failures whatever their status; the first rule that applies decides.
  public var failure: [FailureRule]
  /// Which next links are followed. Default: same origin.
  public var links: LinkPolicy
  /// Whether the cursor is the name of a session at the server, legally the same on every page.
  /// Default false: an unchanged cursor is a loop.
  public var handle: Bool

  /// A policy; by default no failures inside a 200, links to the same origin, no handle.
  public init(failure: [FailureRule] = [], links: LinkPolicy = .sameOrigin, handle: Bool = false) {
    self.failure = failure
    self.links = links
    self.handle = handle
  }
}

extension PagePolicy: Codable {
  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(
      decoder, "The policy", names: ["failure", "links", "handle"])
    self.init(
      failure: try object.optional("failure") ?? [],
      links: try object.optional("links") ?? .sameOrigin,
      handle: try object.optional("handle") ?? false)
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    if !failure.isEmpty { try fields.encode(failure, forKey: "failure") }
    if links != .sameOrigin { try fields.encode(links, forKey: "links") }
    if handle { try fields.encode(handle, forKey: "handle") }
  }
}
