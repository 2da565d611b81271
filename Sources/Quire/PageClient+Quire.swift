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
}
