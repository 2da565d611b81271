import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Names of secrets")
struct SecretNameTests {
  @Test(
    "H-8: what usually holds a secret is known by its name",
    arguments: [
      "access_token", "accessToken", "access-token", "token", "auth_token", "PRIVATE-TOKEN",
      "api_key", "apikey", "apiKey", "APIKey", "X-Api-Key", "key", "subscription-key", "sig",
      "signature", "X-Amz-Signature", "X-Amz-Security-Token", "X-Goog-Credential", "auth", "pwd",
      "Authorization", "Proxy-Authorization", "Cookie", "password", "passwd", "secret",
      "client_secret", "jwt", "sid", "session", "session_id", "PHPSESSID", "auth[token]",
      "hapikey", "apipass", "userpass", "wskey", "userkey", "otp", "sessid",
      "csrf", "clientsecret", "consumerkey", "refreshtoken", "ID_TOKEN", "idtoken", "sessionkey",
      "pass", "wstoken",
    ])
  func secrets(_ name: String) {
    #expect(SecretName.matches(name))
  }

  @Test(
    "Words that merely contain such a name, and positions, are no secrets",
    arguments: [
      "appid", "boarding_pass", "compass", "passenger", "bypass", "author", "authors", "keyword",
      "design", "signal",
      "monkey", "tokens", "keys", "assigned",
      "page_token", "pageToken", "next_token", "nextToken", "NextToken", "continuation-token",
      "sync_token", "resumptionToken", "cursor", "start_key", "startKey", "last_evaluated_key",
      "$skiptoken", "page", "", "limit", "Accept", "User-Agent",
    ])
  func harmless(_ name: String) {
    #expect(!SecretName.matches(name))
  }
}
