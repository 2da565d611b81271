import ArgumentParser
import QuireHTTP

/// `--links`: which next links are followed.
enum LinksOption {
  static func policy(_ text: String) throws -> LinkPolicy {
    switch text {
    case "same-origin": return .sameOrigin
    case "rebase": return .rebase
    case "upgrade-scheme": return .upgradeScheme
    default:
      let hosts = text.dropFirst("allow:".count).split(separator: ",").map(String.init)
      guard text.hasPrefix("allow:"), !hosts.isEmpty else {
        throw ValidationError(
          "--links \(text): expected same-origin, rebase, upgrade-scheme or allow:HOST[,HOST].")
      }
      return .allow(hosts)
    }
  }
}
