import QuirePagination
import ArgumentParser
import Quire

/// The description of a listing, from one of the three ways in which options give it.
enum PaginationOption {
  static func description(_ command: ExportCommand) throws -> Pagination {
    var pagination = try base(command)
    if let items = command.items { pagination = try moved(pagination, to: items) }
    if let path = pagination.items.missingPath {
      let name = command.preset.map { "preset \($0)" } ?? "description"
      let example = CommandLineText.quoted(["--items", path.text])
      throw ValidationError(
        command.items == nil
          ? "The \(name) does not say where the items are. Use --items, such as \(example)."
          : "--items: The items of the \(name) cannot be there: what the next page is found by is "
            + "beside them.")
    }
    if let size = command.size { pagination = pagination.size(as: try BlockOption.size(size)) }
    if let total = command.total { pagination.total = try BlockOption.block(total, "--total") }
    if let links = try command.request.linkPolicy() { pagination.policy.links = links }
    return pagination
  }

  /// The prefixes of `--items` that say how a list may be written.
  private static let itemWords = ["optional:", "oneOrMany:"]

  /// Returns the description with its items at another path. `optional:` in front of it allows an
  /// empty list to be left out, `oneOrMany:` a single item in place of a list. What the description
  /// says of these, or of members of an object, still holds.
  private static func moved(_ pagination: Pagination, to text: String) throws -> Pagination {
    var rest = text[...]
    var words: Set<String> = []
    while let word = itemWords.first(where: rest.hasPrefix) {
      words.insert(word)
      rest = rest.dropFirst(word.count)
    }
    // Other selectors are written like the other blocks: `members:/result`, or in JSON.
    if !rest.isEmpty, !rest.hasPrefix("/"), let items = try? Pagination.Items(words: text) {
      return pagination.items(at: items)
    }
    var moved: Pagination
    do {
      moved = pagination.items(at: .path(try PagePath(String(rest))))
    } catch let error as PageError {
      throw ValidationError("--items: \(error.message)\(wordHint(text))")
    }
    if words.contains("oneOrMany:"), !moved.items.admitsOne {
      moved.items = .oneOrMany(moved.items)
    }
    if words.contains("optional:"), !moved.items.absentMeansEmpty {
      moved.items = .optional(moved.items)
    }
    return moved
  }

  private static func wordHint(_ text: String) -> String {
    guard let colon = text.firstIndex(of: ":"), !text.hasPrefix("/") else { return "" }
    return NearestName.hint(String(text[...colon]), in: itemWords)
  }

  private static func base(_ command: ExportCommand) throws -> Pagination {
    let ways = [
      ("--preset", command.preset), ("--pagination", command.pagination), ("--next", command.next),
    ].filter { $0.1 != nil }.map(\.0)
    guard ways.count < 2 else {
      throw ValidationError(
        "\(ways[0]) and \(ways[1]) exclude each other.\(change(command.preset))")
    }
    for (option, isGiven) in [("--send", command.send != nil), ("--end", !command.end.isEmpty)] {
      if isGiven, command.next == nil {
        throw ValidationError("\(option) needs --next.\(change(command.preset))")
      }
    }
    guard !ways.isEmpty else {
      throw ValidationError(
        "Say how the listing is paged by one of --preset, --pagination, or --next and --send. quire detect URL "
          + "finds that out.")
    }
    if let name = command.preset { return try preset(name) }
    if let path = command.pagination {
      let bytes = try InputFile.read(path, for: "--pagination")
      do {
        return try Pagination(json: bytes)
      } catch {
        throw ValidationError("--pagination \(path): \(error.message)")
      }
    }
    return try composition(command)
  }

  /// Returns the advice on how to change a preset, since options cannot.
  private static func change(_ preset: String?) -> String {
    guard let preset else { return "" }
    let name = CommandLineText.quoted([preset])
    return
      " To change a preset: quire presets \(name) > my.json, edit my.json, and give --pagination "
      + "my.json."
  }

  /// Returns the preset of that name. Throws a usage error with the nearest name.
  static func preset(_ name: String) throws -> Pagination {
    do {
      return try Pagination.preset(named: name)
    } catch {
      throw ValidationError(error.message)
    }
  }

  private static func composition(_ command: ExportCommand) throws -> Pagination {
    let next: Pagination.Next = try BlockOption.block(command.next ?? "", "--next")
    var pagination = Pagination(
      next: next, end: try command.end.map { try BlockOption.block($0, "--end") })
    if let send = command.send {
      pagination.send = try BlockOption.block(send, "--send")
    } else if next != .linkHeader {
      throw ValidationError("--next \(command.next ?? "") needs --send: where does it go?")
    }
    for case .total(let total) in pagination.end {
      try check(total, endsWalkBy: next)
      pagination.total = total
    }
    return pagination
  }

  /// Throws if the walk does not count what the total counts.
  private static func check(_ total: Pagination.TotalSource, endsWalkBy next: Pagination.Next)
    throws
  {
    switch (next, total.kind) {
    case (.pageNumber, _), (.offset, .items): return
    case (.offset, _):
      throw ValidationError(
        "--end total:PATH,kind:\(total.kind.rawValue): only --next pageNumber counts pages. Write --end "
          + "total:PATH, if the server says how many items there are.")
    default:
      throw ValidationError(
        "--end total: only --next offset and --next pageNumber count. Leave it out; nothing but the "
          + "missing cursor is needed. To check that as many items came as the server says, use "
          + "--total.")
    }
  }
}
