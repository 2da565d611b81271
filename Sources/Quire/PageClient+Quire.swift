public import HTTPTypes
import QuireCurl
public import QuireHTTP

extension PageClient {
  /// A client over libcurl, whose connections all such clients share.
  ///
  /// - Parameters:
  ///   - headers: Fields for every request to a walk's home origin, such as credentials. Default:
  ///   none.
  ///   - configuration: Timeouts, limits, retries. Default: the profile for APIs.
  public init(headers: HTTPFields = [:], configuration: Configuration = Configuration()) {
    self.init(transport: CurlTransport.shared, headers: headers, configuration: configuration)
  }

  /// A client over libcurl, whose fields are named in text: `["X-Api-Key": key]`.
  ///
  /// Traps for a name that is no token (RFC 9110, §5.6.2); make `HTTPField.Name` of names from outside
  /// the program. Otherwise as `init(headers:configuration:)`.
  public init(
    headers: KeyValuePairs<String, String>, configuration: Configuration = Configuration()
  ) {
    self.init(headers: HTTPFields(named: headers), configuration: configuration)
  }
}
