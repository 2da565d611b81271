import ArgumentParser
import Quire
import QuirePagination

/// The values of `--next`, `--send`, `--end`, `--size` and `--total`, in the words of a
/// description.
///
/// A value is the name of a case, with its own value after a colon and further members after
/// commas: `sameCursor`, `body:/next`, `offset:0,step:pageSize`, `flag:/last,continuesWhile:false`.
/// A block may also be written in JSON.
enum BlockOption {
  /// Parses the block that an option's words describe.
  static func block<Value: Block>(_ text: String, _ option: String) throws -> Value {
    do {
      return try Value(words: text)
    } catch {
      throw ValidationError("\(option) \(text): \(error.message)")
    }
  }

  /// Parses the placement of a page size.
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

  /// Returns the options for a description; nil if options cannot express it.
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
