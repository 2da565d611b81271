import ArgumentParser
import Quire
import QuireCore
import QuireHTTP
import QuirePagination

/// The small grammar of `--next`, `--send`, `--end` and `--size`: a word, or a word and its argument.
///
/// ```
/// --next  link  header:NAME  body:PATH  last:PATH  offset[:FIRST]  page[:FIRST]
/// --send  url  query:NAME  header:NAME  body:POINTER
/// --end   empty  short  flag:PATH  last:PATH  total:PATH  pages:PATH  same  status:CODE
///         sentinel:VALUE
/// --size  query:NAME  header:NAME  body:POINTER
/// ```
struct StepSpec {
  private let option: String
  private let text: String
  private let word: String
  private let argument: String?

  private init(_ text: String, option: String) {
    self.option = option
    self.text = text
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    word = String(parts.first ?? "")
    argument = parts.count > 1 ? String(parts[1]) : nil
  }

  /// Where the continuation of the next page comes from.
  static func next(_ text: String) throws -> NextSource {
    let spec = StepSpec(text, option: "--next")
    switch spec.word {
    case "link": return try spec.alone(.linkHeader)
    case "header": return .header(try spec.name("X-Next-Token"))
    case "body": return .body(try spec.pointer("/next_cursor"))
    case "last": return .lastItem(try spec.pointer("/id"))
    case "offset": return .offset(first: try spec.number(or: 0))
    case "page": return .pageNumber(first: try spec.number(or: 1))
    default: throw spec.unknown(["link", "header", "body", "last", "offset", "page"])
    }
  }

  /// Where it goes.
  static func send(_ text: String) throws -> Placement {
    let spec = StepSpec(text, option: "--send")
    switch spec.word {
    case "url": return try spec.alone(.url)
    case "query": return .query(try spec.name("cursor"))
    case "header": return .header(try spec.name("X-Token"))
    case "body": return .jsonBody(try spec.pointer("/cursor"))
    default: throw spec.unknown(["url", "query", "header", "body"])
    }
  }

  /// Where a page size goes.
  static func size(_ text: String) throws -> Placement {
    let spec = StepSpec(text, option: "--size")
    switch spec.word {
    case "query": return .query(try spec.name("limit"))
    case "header": return .header(try spec.name("X-Page-Size"))
    case "body": return .jsonBody(try spec.pointer("/limit"))
    default: throw spec.unknown(["query", "header", "body"])
    }
  }

  /// Where the server says how many items there are.
  static func total(_ text: String) throws -> TotalSource {
    do {
      return TotalSource(.body(try PagePath(text)))
    } catch let error as PageError {
      throw ValidationError("--total \(text): \(error.message)")
    }
  }

  /// What ends the walk.
  static func end(_ text: String) throws -> EndRule {
    let spec = StepSpec(text, option: "--end")
    switch spec.word {
    case "empty": return try spec.alone(.emptyPage)
    case "short": return try spec.alone(.shortPage)
    case "same": return try spec.alone(.sameCursor)
    case "flag": return .flag(.body(try spec.pointer("/has_more")))
    case "last": return .flag(.body(try spec.pointer("/last")), continuesWhile: false)
    case "total": return .total(TotalSource(.body(try spec.pointer("/total"))))
    case "pages": return .pages(.body(try spec.pointer("/total_pages")))
    case "status": return .status([try spec.number(or: nil)])
    case "sentinel": return .noNext(sentinels: [try spec.name("-1")])
    default:
      throw spec.unknown([
        "empty", "short", "flag", "last", "total", "pages", "same", "status", "sentinel",
      ])
    }
  }
}

extension StepSpec {
  /// What a description in a file calls a word of these options.
  private static let words: [String: [String: String]] = [
    "--next": [
      "linkHeader": "link", "lastItem": "last", "pageNumber": "page", "jsonBody": "body",
      "url": "link",
    ],
    "--send": ["jsonBody": "body", "link": "url"],
    "--size": ["jsonBody": "body"],
    "--end": [
      "emptyPage": "empty", "shortPage": "short", "sameCursor": "same", "noNext": "sentinel",
      "lastPage": "last", "totalPages": "pages",
    ],
  ]

  private func alone<Value>(_ value: Value) throws -> Value {
    guard argument == nil else {
      throw ValidationError("\(option) \(text): \"\(word)\" takes nothing after it.")
    }
    return value
  }

  private func name(_ example: String) throws -> String {
    guard let argument, !argument.isEmpty else {
      throw ValidationError(
        "\(option) \(text): \"\(word)\" needs a \(word == "sentinel" ? "value" : "name"), such as \(word):\(example)."
      )
    }
    return argument
  }

  private func pointer(_ example: String) throws -> PagePath {
    guard let argument else {
      throw ValidationError(
        "\(option) \(text): \"\(word)\" needs a JSON pointer, such as \(word):\(example).")
    }
    do {
      return try PagePath(argument)
    } catch let error as PageError {
      throw ValidationError("\(option) \(text): \(error.message)")
    }
  }

  private func number(or fallback: Int?) throws -> Int {
    if argument == nil, let fallback { return fallback }
    guard let value = argument.flatMap({ Int($0) }), value >= 0 else {
      throw ValidationError(
        "\(option) \(text): \"\(word)\" needs a whole number, such as \(word):\(fallback ?? 404).")
    }
    return value
  }

  private func unknown(_ words: [String]) -> ValidationError {
    let hint = NearestName.hint(word, in: words, words: Self.words[option] ?? [:])
    return ValidationError(
      "\(option) \(text): \"\(word)\" is none of \(words.joined(separator: ", ")).\(hint)")
  }
}

extension StepSpec {
  /// The options that say what a description says; nil where they cannot.
  static func words(for pagination: Pagination) -> [String]? {
    guard let next = word(for: pagination.next), let items = word(for: pagination.items) else {
      return nil
    }
    var words = ["--next", next]
    if pagination.send != .url || next != "link" {
      guard let send = word(for: pagination.send) else { return nil }
      words += ["--send", send]
    }
    for rule in pagination.end {
      guard let end = word(for: rule) else { return nil }
      words += ["--end", end]
    }
    if !items.isEmpty { words += ["--items", items] }
    if let total = pagination.total, !pagination.end.contains(.total(total)),
      case .body(let path) = total.source, total == TotalSource(.body(path))
    {
      words += ["--total", path.text]
    }
    return words
  }

  private static func word(for items: ItemSelector) -> String? {
    switch items {
    case .path(let path): path.text
    case .optional(.path(let path)): "optional:\(path)"
    case .oneOrMany(.path(let path)): "oneOrMany:\(path)"
    case .optional(.oneOrMany(.path(let path))): "optional:oneOrMany:\(path)"
    default: nil
    }
  }

  private static func word(for next: NextSource) -> String? {
    switch next {
    case .linkHeader("next", [:]): "link"
    case .header(let name): "header:\(name)"
    case .body(let path): "body:\(path)"
    case .lastItem(let path): "last:\(path)"
    case .offset(let first, .itemsReturned): first == 0 ? "offset" : "offset:\(first)"
    case .pageNumber(let first, nil): first == 1 ? "page" : "page:\(first)"
    default: nil
    }
  }

  private static func word(for send: Placement) -> String? {
    switch send {
    case .url: "url"
    case .query(let name, .strict): "query:\(name)"
    case .header(let name): "header:\(name)"
    case .jsonBody(let path): "body:\(path)"
    default: nil
    }
  }

  private static func word(for rule: EndRule) -> String? {
    switch rule {
    case .emptyPage: return "empty"
    case .shortPage: return "short"
    case .sameCursor: return "same"
    case .noNext(let sentinels): return sentinels.count == 1 ? "sentinel:\(sentinels[0])" : nil
    case .flag(let flag):
      guard case .body(let path) = flag.source, flag.ifAbsent == .ignore else { return nil }
      return (flag.continuesWhile ? "flag:" : "last:") + path.text
    case .total(let total):
      guard case .body(let path) = total.source else { return nil }
      switch total.kind {
      case .items: return "total:\(path)"
      case .pages: return "pages:\(path)"
      case .estimate, .lowerBound, .remaining: return nil
      }
    default: return nil
    }
  }
}
