package import QuireCore

/// A policy for following next links, relative to the home origin, where the walk started.
///
/// Under every policy, credentials, custom header fields and request bodies go to the home origin
/// only, a link never leads from https to http, and links with user information, control characters
/// or other schemes are refused.
public enum LinkPolicy: Hashable, Sendable {
  /// Follows only links to the same scheme, host and port; others throw `crossOriginLink`. The
  /// default.
  case sameOrigin
  /// Follows the link's path and query at the home origin: for servers that do not know their
  /// public name.
  case rebase
  /// Changes http links to the home host to https; otherwise the same as `sameOrigin`.
  case upgradeScheme
  /// Also follows links to these hosts, without credentials, for requests without a body. Each is
  /// `host`, which means the scheme's default port, or `host:port`.
  case allow([String])

  /// Returns the URL to follow for an absolute URL. Throws `crossOriginLink` or `refusedLink`.
  package func target(of link: URLReference, home: Origin) throws(PageError) -> URLReference {
    let origin: Origin
    do {
      origin = try Origin(link, likely: home)
    } catch {
      throw PageError(.refusedLink, "The next link cannot be followed: \(error.message)")
    }
    if origin == home { return link }
    switch self {
    case .rebase:
      return moved(link, to: home)
    case .upgradeScheme
    where origin.scheme == "http" && home.scheme == "https" && origin.host == home.host:
      return moved(link, to: home)
    case .allow(let hosts) where allows(origin, in: hosts):
      guard home.scheme == "http" || origin.scheme == "https" else {
        throw PageError(
          .refusedLink,
          "The next link leads from https to \(origin.displayText), in the clear.",
          remedies: [
            Remedy(
              .links, ["rebase", "upgradeScheme"],
              condition: "if the server means its https address")
          ])
      }
      return link
    case .sameOrigin, .upgradeScheme, .allow:
      throw PageError(
        .crossOriginLink,
        "The next link leads to \(origin.displayText), away from \(home). Rebased, it would lead to \(home); "
          + "allowed, it is followed without credentials.",
        remedies: [
          Remedy(
            .links, ["rebase", "allow:\(origin.authority)"], condition: "if that is right")
        ])
    }
  }

  /// Whether the policy allows the origin's host by name.
  package func allowsByName(_ origin: Origin) -> Bool {
    if case .allow(let hosts) = self { allows(origin, in: hosts) } else { false }
  }

  private func allows(_ origin: Origin, in hosts: [String]) -> Bool {
    hosts.contains { host in
      let wanted = try? Origin(url: "\(origin.scheme)://\(host)")
      return wanted == origin
    }
  }

  private func moved(_ link: URLReference, to home: Origin) -> URLReference {
    var target = link
    target.scheme = home.scheme
    target.authority = home.authority
    return target
  }
}

extension LinkPolicy: Block {
  package static let name = "links"

  package static let grammar = Form<LinkPolicy>.oneOf(
    "A link policy",
    [
      .word("sameOrigin", .sameOrigin, "links to the same scheme, host and port; the default"),
      .word("rebase", .rebase, "the link's path and query at the listing's own origin"),
      .word("upgradeScheme", .upgradeScheme, "a link to http at the same host becomes https"),
      .key(
        "allow", example: "[\"host\"]", LinkPolicy.allow,
        { if case .allow(let hosts) = $0 { hosts } else { nil } },
        "links to these hosts too, without credentials"),
    ])
}
