package import QuirePagination
package import QuireCore

/// Presets that take parameters, as one writes them in Swift.
extension PaginationPreset {
  /// The preset as one writes it where a `Pagination` is expected, its items at `place` if that is not
  /// nil.
  func swift(at place: PagePath?) -> String {
    if let call = Self.calls[name] {
      if let place, !call.contains("{}") {
        return ".\(call).items(at: \(Self.literal(place.text)))"
      }
      let text = place?.text ?? ownPlace
      if text.isEmpty, let start = Self.rootStarts(in: call, of: name) {
        return ".\(call[..<start]))"
      }
      return "." + call.replacing("{}", by: Self.literal(text))
    }
    guard let place else { return "." + name }
    return ".\(name).items(at: \(Self.literal(place.text)))"
  }

  /// The place in the call that makes the preset as it is.
  var ownPlace: String {
    let items = pagination.items.paths.first?.text ?? ""
    guard takesContainer, let last = items.lastIndex(of: "/") else { return items }
    return String(items[..<last])
  }

  /// Whether the place of the items is for the caller to say.
  var takesPlace: Bool { Self.calls[name]?.contains("{}") == true }

  /// Whether the place is that of an object around the items and what leads on, not of the items.
  package var takesContainer: Bool { name == "relay" || name == "spotify" }

  /// Whether what leads on stands beside the items under a name made of theirs.
  package var hasLinksBesideItems: Bool { name == "openStackLinks" }

  /// The description for items at a path of the page, what leads on moved along with them.
  ///
  /// Throws `invalidArgument` for a place that nothing can stand beside.
  package func pagination(itemsAt path: PagePath) throws(PageError) -> Pagination {
    var place = path
    if name == "spotify", path.text.hasSuffix("/items") {
      place = PagePath(stringLiteral: String(path.text.dropLast("/items".count)))
    }
    guard let pagination = pagination(at: place) else {
      throw PageError(
        .invalidArgument,
        "The items of the preset \(name) cannot be at \"\(path)\": what leads on has to stand beside "
          + "them.")
    }
    return pagination
  }

  /// The description for a listing that is elsewhere in the page.
  ///
  /// Nil where the place cannot be gone on from.
  package func pagination(at place: PagePath) -> Pagination? {
    let further = (try? PagePath(place.text + "_/more")) != nil
    switch name {
    case "relay" where !further, "spotify" where !further, "openStackLinks" where !further:
      return nil
    case "relay": return .relay(connection: place)
    case "spotify": return .spotify(in: place)
    case "openStackLinks": return .openStackLinks(items: place)
    default:
      return pagination.items(at: pagination.items.moved(to: place))
    }
  }

  /// `text` as a literal.
  static func literal(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\"", "\\": "\\" + String(scalar)
      case _ where !scalar.isPlain: "\\u{\(String(scalar.value, radix: 16))}"
      default: String(scalar)
      }
    }
    return "\"" + escaped.joined() + "\""
  }

  /// Where the argument for the items starts in a call that may leave it out, because they are the root
  /// of the page by default; nil for other calls.
  private static func rootStarts(in call: String, of name: String) -> String.Index? {
    guard atRoot.contains(name) else { return nil }
    return call.lastIndex(of: ",") ?? call.firstIndex(of: "(").map(call.index(after:))
  }

  /// Functions whose items are the root of the page unless another place is given.
  static let atRoot: Set<String> = ["keyset", "offsetLimit", "pages", "spotify", "totalPages"]

  /// Functions, with `{}` for the place of the items; every other preset is a constant.
  static let calls: [String: String] = [
    "amazonSP": "amazonSP(items: {})",
    "atproto": "atproto(items: {})",
    "auth0": "auth0(items: {})",
    "auth0Checkpoint": "auth0Checkpoint(items: {})",
    "aws": "aws(items: {})",
    "awsQuery": "awsQuery(items: {})",
    "chembl": "chembl(items: {})",
    "customerIO": "customerIO(items: {})",
    "mcp": "mcp()",
    "digitalOcean": "digitalOcean(items: {})",
    "eBay": "eBay(items: {})",
    "ebayTrading": "ebayTrading(items: {})",
    "elastic": "elastic(index: \"index\")",
    "elasticScroll": "elasticScroll()",
    "google": "google(items: {})",
    "googleSync": "googleSync(items: {})",
    "hal": "hal(items: {})",
    "keyset": "keyset(\"/id\", send: \"id_above\", items: {})",
    "ldp": "ldp(items: {})",
    "mediaWiki": "mediaWiki(items: {}, limit: \"aplimit\")",
    "monday": "monday()",
    "mws": "mws(action: \"ListOrders\", items: {})",
    "offsetLimit": "offsetLimit(items: {})",
    "openSearch": "openSearch()",
    "openStackLinks": "openStackLinks(items: {})",
    "openSearchPIT": "openSearchPIT(index: \"index\")",
    "pagerDuty": "pagerDuty(items: {})",
    "pages": "pages(items: {})",
    "payPal": "payPal(items: {})",
    "quickBooks": "quickBooks(items: {})",
    "redmine": "redmine(items: {})",
    "relay": "relay(connection: {})",
    "shopify": "shopify(items: {})",
    "slack": "slack(items: {})",
    "spotify": "spotify(in: {})",
    "square": "square(items: {})",
    "teamCity": "teamCity(items: {})",
    "totalPages": "totalPages(\"/meta/total_pages\", items: {})",
    "twilio": "twilio(items: {})",
    "twitter": "twitter()",
    "zendesk": "zendesk(items: {})",
    "zendeskIncremental": "zendeskIncremental(items: {})",
    "zoom": "zoom(items: {})",
  ]
}
