import ArgumentParser

/// `--bad-items`: what becomes of items that are broken in themselves, in a page that is not.
enum BadItemsOption: Equatable, Sendable {
  /// The export fails.
  case fail
  /// They are set aside in a file, or on stderr where it is nil, and the export goes on.
  case setAside(file: String?)

  /// Reads `throw`, `collect` or `collect:FILE`.
  init(_ text: String) throws {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    switch (parts.first, parts.dropFirst().first) {
    case ("throw", nil): self = .fail
    case ("collect", nil): self = .setAside(file: nil)
    case ("collect", let file?) where !file.isEmpty: self = .setAside(file: String(file))
    default:
      throw ValidationError("--bad-items \(text): expected throw, collect or collect:FILE.")
    }
  }
}
