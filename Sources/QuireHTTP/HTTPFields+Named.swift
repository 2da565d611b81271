public import HTTPTypes

extension HTTPFields {
  /// Fields whose names are texts, such as `["X-Api-Key": key]`.
  ///
  /// Traps for a name that is no token (RFC 9110, §5.6.2), as a literal with a mistake in it does.
  package init(named fields: KeyValuePairs<String, String>) {
    self.init()
    for (name, value) in fields {
      guard let name = HTTPField.Name(name) else {
        preconditionFailure("\(name.debugDescription) is no name of a header field.")
      }
      append(HTTPField(name: name, value: value))
    }
  }
}

extension PageClient.RequestOptions {
  /// The first request of a listing, its fields named in text: `["X-Api-Key": key]`.
  ///
  /// Traps for a name that is no token (RFC 9110, §5.6.2); make `HTTPField.Name` of names from outside
  /// the program.
  public init(
    method: HTTPRequest.Method = .get, headers: KeyValuePairs<String, String>,
    body: PageRequest.Body = .none, parameters: KeyValuePairs<String, String> = [:]
  ) {
    self.init(
      method: method, headers: HTTPFields(named: headers), body: body, parameters: parameters)
  }
}
