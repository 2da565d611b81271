/// Rules that recognise secrets by the names of parameters and header fields.
///
/// Whole words count, so that `author`, `keyword` and `design` are harmless. Tokens and keys that
/// say where a page starts (`page_token`, `nextToken`, `start-key`) are positions and no secrets.
package enum SecretName {
  /// Whether a parameter or field with this name is treated as a secret.
  package static func matches(_ name: String) -> Bool {
    let words = words(of: name)
    // Other passes are for boarding.
    if words.contains(where: secrets.contains) || words == ["pass"] { return true }
    guard let last = words.last, last == "token" || last == "key" else { return false }
    return words.dropLast().last.map { !positions.contains($0) } ?? true
  }

  /// Words that make any name that contains them a secret's.
  private static let secrets: Set<String> = [
    "accesskey", "accesstoken", "apikey", "apipass", "apisecret", "apitoken", "appkey", "appsecret",
    "assertion", "auth", "authkey", "authorization", "authtoken", "bearer", "bearertoken",
    "clientkey", "clientsecret", "consumerkey", "consumersecret", "cookie", "cred", "credential",
    "credentials", "creds", "csrf", "csrftoken", "devkey", "hapikey", "hmac", "idtoken",
    "jsessionid", "jwt", "licensekey", "oauth", "otp", "passcode", "passphrase", "passwd",
    "password", "phpsessid", "privatekey", "privatetoken", "pwd", "refreshtoken", "secret",
    "secretkey", "securitytoken", "sessid", "session", "sessionid", "sessionkey", "sessiontoken",
    "sharedkey", "sharedsecret", "sid", "sig", "signature", "signingkey", "subscriptionkey",
    "userkey", "userpass", "userpassword", "usertoken", "wskey", "wstoken", "xsrf", "xsrftoken",
  ]

  /// Words before "token" or "key" that say where a page starts.
  private static let positions: Set<String> = [
    "after", "before", "continuation", "continue", "cursor", "delta", "end", "evaluated", "first",
    "from", "last", "marker", "next", "page", "pagination", "paging", "prev", "previous", "resume",
    "resumption", "scroll", "skip", "sort", "start", "sync",
  ]

  /// Returns the words of a name in lower case, divided by characters other than letters and
  /// digits, and by capitals as in `apiKey` and `APIKey`.
  private static func words(of name: String) -> [String] {
    let bytes = Array(name.utf8)
    var words: [[UInt8]] = [[]]
    for (index, byte) in bytes.enumerated() {
      guard isCapital(byte) || isSmall(byte) else {
        words.append([])
        continue
      }
      let followsSmall = index > 0 && isSmall(bytes[index - 1])
      let precedesSmall = index + 1 < bytes.count && isSmall(bytes[index + 1])
      if isCapital(byte), followsSmall || precedesSmall { words.append([]) }
      words[words.count - 1].append(isCapital(byte) ? byte | 0x20 : byte)
    }
    return words.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
  }

  private static func isCapital(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  private static func isSmall(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
