import ArgumentParser
import Foundation
import Quire

/// `--data`: a request body, or `@file` with one in it.
enum BodyOption {
  /// The body as something that pagination can put its cursor into.
  ///
  /// A form or XML is what its Content-Type calls so. Otherwise a JSON text is a document, and any
  /// other text what the description writes into; where it writes into no body, bytes. Without a
  /// description, an element is XML and `name=value` a form.
  static func body(
    _ text: String, contentType: String?, for pagination: Pagination?
  ) throws -> PageRequest.Body {
    let bytes =
      text.hasPrefix("@")
      ? try InputFile.read(String(text.dropFirst()), for: "--data") : Array(text.utf8)
    let json = (try? JSONDocument(bytes).value(at: "")).map(PageRequest.Body.json)
    // Bytes that are no text in UTF-8 stay what they are.
    guard let words = String(validating: bytes, as: UTF8.self) else { return .bytes(bytes) }
    let form = PageRequest.Body.form(words.trimmingCharacters(in: .newlines))
    let type = (contentType ?? "").lowercased().prefix { $0 != ";" }.filter { $0 != " " }
    if type == "application/x-www-form-urlencoded" { return form }
    if type.hasSuffix("/xml") || type.hasSuffix("+xml") { return .xml(words) }
    if let json { return json }
    guard let pagination else {
      if words.hasPrefix("<") { return .xml(words) }
      return words.wholeMatch(of: #/[^\s=]+=\S*\n?/#) == nil ? .bytes(bytes) : form
    }
    for placement in pagination.placements {
      switch placement {
      case .form: return form
      // Of several bodies that it may be, what begins like one.
      case .xmlBody where pagination.hasAlternatives && !words.hasPrefix("<"): continue
      case .xmlBody: return .xml(words)
      case .jsonBody, .bodyMerge: throw noJSON(bytes)
      default: continue
      }
    }
    return .bytes(bytes)
  }

  /// Where a body that the description writes into breaks off being JSON.
  private static func noJSON(_ bytes: [UInt8]) -> ValidationError {
    var reason = ""
    do {
      _ = try JSONDocument(bytes)
    } catch let error as PageError {
      reason =
        " " + error.message.replacing("JSON page", with: "JSON").replacing("page", with: "body")
    } catch {}
    return ValidationError(
      "--data: not JSON, and this description writes its cursor into a JSON body.\(reason)")
  }
}

extension Pagination {
  /// Where the description writes to, or may write to.
  fileprivate var placements: [Placement] { sends.flatMap(Self.alternatives) }

  /// Whether it depends on the request where it writes to.
  fileprivate var hasAlternatives: Bool { placements.count > sends.count }

  private var sends: [Placement] {
    guard case .firstOf(let routes) = next else { return [send] }
    return routes.map(\.send)
  }

  private static func alternatives(_ placement: Placement) -> [Placement] {
    guard case .firstOf(let placements) = placement else { return [placement] }
    return placements.flatMap(alternatives)
  }
}
