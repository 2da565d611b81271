/// What the name of a member says about how far it tells items apart.
///
/// Names are all there is to go by: a time may be when a record was made or when the server wrote the
/// answer.
enum MemberRole: Hashable, Sendable {
  /// What the record is called by: `id`, `guid`, `@about`.
  case identity
  /// The identity of something: `event_id`, which may be the record's own, or `sensorId`, which is not.
  case reference
  /// What people would call it by: `title`, `url`.
  case title
  /// A time or a date, of the record or of the answer.
  case time
  /// Which of many versions, parts or steps it is: `version`, `seq`, `year`.
  case progress
  /// What changes by itself: `age`, `views`, `nonce`, `fetched_at`.
  case volatile
  /// Anything else.
  case other

  /// The role of the member at a path, by its last name.
  init(path: String) {
    let words = Self.words(of: path.split(separator: "/").last.map(String.init) ?? path)
    let name = words.joined()
    if Self.isVolatile(words, name) {
      self = .volatile
    } else if Self.progressNames.contains(name) || Self.progressEnds.contains(words.last ?? "") {
      self = .progress
    } else if Self.identities.contains(name) {
      self = .identity
    } else if words.count > 1, Self.identityEnds.contains(words.last ?? "") {
      self = .reference
    } else if Self.isTime(words, name) {
      self = .time
    } else if Self.titles.contains(name) || Self.titleEnds.contains(words.last ?? "") {
      self = .title
    } else {
      self = .other
    }
  }

  /// The words of a name in lower case: `lastSeenAt`, `last_seen_at` and `x:last-seen-at` are the same.
  static func words(of name: String) -> [String] {
    var words = [""]
    var previous: Unicode.Scalar = "_"
    for scalar in name.unicodeScalars.suffix(64) {
      if scalar == ":" {
        words = [""]
      } else if !scalar.properties.isAlphabetic, !("0"..."9").contains(scalar) {
        words.append("")
      } else {
        if scalar.properties.isUppercase, previous.properties.isLowercase { words.append("") }
        words[words.count - 1] += scalar.properties.lowercaseMapping
      }
      previous = scalar
    }
    return words.filter { !$0.isEmpty }
  }

  private static func isVolatile(_ words: [String], _ name: String) -> Bool {
    if volatileNames.contains(name) || words.contains(where: volatileWords.contains) { return true }
    guard let last = words.last else { return false }
    if volatileEnds.contains(last) { return true }
    // The time or the number of the answer, and not of the record.
    let ofAnswer = words.dropLast().contains(where: answerWords.contains)
    return ofAnswer && (last == "id" || timeWords.contains(last))
  }

  private static func isTime(_ words: [String], _ name: String) -> Bool {
    if words.contains(where: timeWords.contains) { return true }
    if words.count > 1, ["at", "on", "since", "until"].contains(words.last ?? "") { return true }
    return ["date", "time", "createdat", "updatedat", "modifiedat", "publishedat"]
      .contains { name.hasSuffix($0) }
  }
}

extension MemberRole {
  private static let identities: Set<String> = [
    "id", "ids", "identifier", "uuid", "guid", "uid", "oid", "pk", "urn", "doi", "isbn", "ean",
    "gtin", "sku", "about", "key", "rid", "gid", "nid", "objectid", "itemid", "recordid", "nodeid",
    "entityid", "primarykey", "accession",
  ]
  private static let identityEnds: Set<String> = ["id", "uuid", "guid", "key", "ref"]
  private static let titles: Set<String> = [
    "title", "name", "headline", "subject", "label", "summary", "description", "text", "body",
    "content", "caption", "url", "href", "link", "self", "uri", "slug", "permalink", "email",
    "login",
    "message", "path", "file",
  ]
  private static let titleEnds: Set<String> = ["name", "title", "url", "uri", "link", "href"]
  private static let timeWords: Set<String> = [
    "time", "date", "datetime", "timestamp", "ts", "created", "updated", "modified", "published",
    "recorded", "measured", "observed", "posted", "issued", "started", "ended", "when", "start",
    "end", "begin", "stop", "t", "dt", "datestamp",
  ]
  private static let progressNames: Set<String> = [
    "no", "num", "idx", "pos", "position", "page", "line", "row", "part", "chapter", "step",
    "order",
    "ordinal", "cursor", "year", "month", "day", "week", "quarter", "rev", "generation", "block",
    "height", "slot", "epoch", "tick", "rank",
  ]
  private static let progressEnds: Set<String> = [
    "version", "revision", "seq", "sequence", "number", "index", "offset", "period", "locale",
    "lang",
    "language",
  ]
  private static let volatileNames: Set<String> = [
    "session", "request", "trace", "stale", "fresh", "isnew", "online",
  ]
  /// Words that say it wherever they stand in a name.
  private static let volatileWords: Set<String> = [
    "age", "ago", "elapsed", "uptime", "ttl", "now", "nonce", "random", "rand", "salt", "signature",
    "fetched", "retrieved", "served", "generated", "accessed", "cached", "polled", "refreshed",
    "rendered", "expires", "expiry", "expiration", "expire", "seen", "stamp", "stamped", "volatile",
    "etag", "counter",
  ]
  private static let volatileEnds: Set<String> = [
    "views", "hits", "visits", "visitors", "downloads", "plays", "likes", "votes", "reads", "count",
    "token", "sig",
  ]
  private static let answerWords: Set<String> = [
    "current", "server", "response", "system", "query", "request", "retrieval", "crawl", "render",
    "session", "trace", "correlation", "fetch", "access", "cache",
  ]
}
