extension Pagination: Codable {
  private static let names = [
    "next", "send", "request", "end", "items", "size", "total", "policy", "previous", "resume",
    "formats",
  ]

  /// Reads an object with the names of the answers, of which only `next` is required.
  ///
  /// A name that is unknown, missing or holds something else is an error that says what was
  /// expected.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(decoder, "A pagination description", names: Self.names)
    self.init(
      next: try object("next"), send: try object.optional("send") ?? .url,
      request: try object.optional("request") ?? RequestRule(),
      end: try object.optional("end") ?? [], items: try object.optional("items") ?? .root,
      size: try object.optional("size"), total: try object.optional("total"),
      policy: try object.optional("policy") ?? PagePolicy(),
      previous: try object.optional("previous"), resume: try object.optional("resume"),
      formats: try Self.formats(object))
  }

  private static func formats(_ object: DescriptionObject) throws -> [PageFormat] {
    try (object.optional("formats", as: [String].self) ?? []).map { name in
      guard let format = PageFormat(rawValue: name) else {
        throw object.error("\"\(name)\" is no format; expected \"json\" or \"xml\".")
      }
      return format
    }
  }

  /// Writes the answers, without those that are the default.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(next, forKey: "next")
    if case .firstOf = next {} else { try fields.encode(send, forKey: "send") }
    if request != RequestRule() { try fields.encode(request, forKey: "request") }
    if !end.isEmpty { try fields.encode(end, forKey: "end") }
    try fields.encode(items, forKey: "items")
    try fields.encodeIfPresent(size, forKey: "size")
    try fields.encodeIfPresent(total, forKey: "total")
    if policy != PagePolicy() { try fields.encode(policy, forKey: "policy") }
    try fields.encodeIfPresent(previous, forKey: "previous")
    try fields.encodeIfPresent(resume, forKey: "resume")
    if !formats.isEmpty { try fields.encode(formats, forKey: "formats") }
  }
}
