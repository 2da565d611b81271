import QuireCore

/// One way to the next page: a source, and where its value goes.
public struct Route: Hashable, Sendable {
  /// Where the continuation comes from.
  public var next: NextSource
  /// Where it goes.
  public var send: Placement

  /// A way to the next page.
  public init(_ next: NextSource, send: Placement) {
    self.next = next
    self.send = send
  }
}

extension Route {
  /// What the route sends for a continuation: a counter's number is changed on its way out, so that
  /// positions count in numbers.
  func value(of continuation: JSONValue, pageSize: Int?) throws(PageError) -> JSONValue {
    guard next.firstCount != nil else { return continuation }
    var value = continuation
    for transform in next.transforms {
      value = try transform.apply(to: value, pageSize: pageSize) ?? value
    }
    return value
  }
}

extension Route: Codable {
  /// Reads `{"next": source, "send": placement}`.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(decoder, "A route", names: ["next", "send"])
    self.init(try object("next"), send: try object("send"))
  }

  /// Writes `{"next": source, "send": placement}`.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(next, forKey: "next")
    try fields.encode(send, forKey: "send")
  }
}
