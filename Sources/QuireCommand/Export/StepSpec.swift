import ArgumentParser
import Quire
import QuirePagination

/// The words of `--next`, `--send`, `--end`, `--size` and `--total`: those of a description.
///
/// A word is the name of a case with its value behind a colon, and with further members behind commas:
/// `sameCursor`, `body:/next`, `offset:0,step:pageSize`, `flag:/last,continuesWhile:false`. The JSON of
/// a block does as well.
enum StepSpec {
  /// The block that an option's words say.
  static func block<Value: Block>(_ text: String, _ option: String) throws -> Value {
    do {
      return try Value(words: text)
    } catch {
      throw ValidationError("\(option) \(text): \(error.message)")
    }
  }

  /// Where a page size goes.
  static func size(_ text: String) throws -> Pagination.Placement {
    let placement: Pagination.Placement = try block(text, "--size")
    switch placement {
    case .query, .header, .jsonBody, .form, .xmlBody, .path, .placeholder, .firstOf:
      return placement
    case .url, .request, .queryMerge, .bodyMerge, .itemRange:
      throw ValidationError(
        "--size \(text): a page size goes to one of query, header, jsonBody, form, xmlBody, path, "
          + "placeholder.")
    }
  }

  /// The options that say what a description says; nil where they cannot.
  static func words(for pagination: Pagination) -> [String]? {
    guard let next = pagination.next.words, let items = pagination.items.words else { return nil }
    var words = ["--next", next]
    if pagination.send != .url || pagination.next != .linkHeader {
      guard let send = pagination.send.words else { return nil }
      words += ["--send", send]
    }
    for rule in pagination.end {
      guard let end = rule.words else { return nil }
      words += ["--end", end]
    }
    if !items.isEmpty { words += ["--items", items] }
    if let total = pagination.total, !pagination.end.contains(.total(total)),
      let word = total.words
    {
      words += ["--total", word]
    }
    return words
  }
}
