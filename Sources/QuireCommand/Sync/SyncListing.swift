import ArgumentParser
import Foundation
import HTTPTypes
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination

/// A listing of a sync file.
struct SyncListing: Sendable {
  /// Reading only what has changed.
  struct Since: Sendable {
    let field: PagePath
    let parameter: String
    let start: String?
    let lookBack: String?
  }

  let name: String
  let url: SyncTemplate
  let pagination: Pagination
  let parent: String?
  /// Members that each item gets.
  let with: [(name: String, value: SyncPlaceholder)]
  let since: Since?
  let destination: DestinationRequest
  let headers: HTTPFields
  let parameters: [(name: String, text: String)]
  let pageSize: Int?
  let limits: Limits
  /// Whether a parent's listing that is not there counts as an empty one.
  let skipsMissing: Bool
  /// What makes it the listing that it is, by name, to compare with an unfinished run's.
  let definition: [String: String]

  /// Reads a listing that was checked. Throws `SyncFileError`.
  init(_ name: String, _ value: JSONValue, in file: JSONValue, folder: String) throws {
    let place = "listings.\(name)"
    self.name = name
    url = try SyncTemplate(value["url"]?.scalarText ?? "", at: "\(place).url")
    parent = value["for"]?.scalarText
    do {
      pagination = try Self.pagination(value, folder: folder, at: place)
      with = try (value["with"] ?? .null).textsByName.map {
        ($0.name, try SyncPlaceholder($0.text))
      }
      since = try value["since"].map { since in
        Since(
          field: try PagePath(since["field"]?.string ?? ""),
          parameter: since["parameter"]?.scalarText ?? "", start: since["start"]?.scalarText,
          lookBack: since["lookBack"]?.scalarText)
      }
      destination = try Self.destination(name, value, file, folder: folder, at: place)
    } catch let error as PageError {
      throw SyncFileError(place, error.message)
    } catch let error as ValidationError {
      throw SyncFileError(place, error.message)
    }
    guard since == nil || destination.key != nil else {
      throw SyncFileError(
        "\(place).since",
        "What comes again has to take the place of what is there: say by key where.")
    }
    headers = try SyncFile.headers(value["headers"], at: "\(place).headers")
    do {
      parameters = try (value["parameters"] ?? .null).textsByName.map {
        ($0.name, try HeaderOption.value($0.text, for: $0.name))
      }
    } catch let error as ValidationError {
      throw SyncFileError("\(place).parameters", error.message)
    }
    pageSize = value["pageSize"]?.integer
    limits = Limits(pages: value["maxPages"]?.integer, items: value["maxItems"]?.integer)
    skipsMissing = value["missing"]?.string == "skip"
    definition = [
      "url": url.text, "for": parent ?? "", "pagination": pagination.json,
      "parameters": "\(value["parameters"] ?? .null)", "with": "\(value["with"] ?? .null)",
      "pageSize": pageSize.map(String.init) ?? "",
    ]
  }

  /// All that is asked of its ancestors' items.
  var placeholders: [SyncPlaceholder] { url.placeholders + with.map(\.value) }

  private static func pagination(
    _ value: JSONValue, folder: String, at place: String
  ) throws -> Pagination {
    var pagination: Pagination
    switch (value["preset"]?.scalarText, value["pagination"]) {
    case (let name?, nil): pagination = try Pagination.preset(named: name)
    case (nil, .string(let file)?):
      let path = SyncFile.resolved(file, in: folder)
      pagination = try Pagination(json: try InputFile.read(path, for: "\(place).pagination"))
    case (nil, let description?): pagination = try Pagination(json: Array("\(description)".utf8))
    case (nil, nil):
      throw SyncFileError(place, "Say how it is paged by preset or pagination.")
    default: throw SyncFileError(place, "preset and pagination exclude each other.")
    }
    if let items = value["items"]?.string {
      pagination = pagination.items(at: .path(try PagePath(items)))
    }
    guard pagination.items.missingPath == nil else {
      throw SyncFileError(
        place, "The description does not say where the items are: say it by items.")
    }
    return pagination
  }

  private static func destination(
    _ name: String, _ value: JSONValue, _ file: JSONValue, folder: String, at place: String
  ) throws -> DestinationRequest {
    guard let to = value["to"] ?? file["to"] else {
      throw SyncFileError(place, "Say by to where its items go, here or for all listings.")
    }
    let path = to.string ?? to["path"]?.string ?? ""
    var request = DestinationRequest(path: SyncFile.resolved(path, in: folder))
    request.columns = try value["columns"]?.texts?.map { try TableColumn($0) }
    request.key = try value["key"]?.texts.map { texts in
      TableKey(try texts.map { try PagePath($0.isEmpty || $0.hasPrefix("/") ? $0 : "/\($0)") })
    }
    let mode = value["mode"]?.string.flatMap(SinkMode.init(rawValue:))
    request.mode = mode ?? (request.key == nil ? .replace : .upsert)
    if Destination.isDatabase(path) {
      request.table = value["table"]?.scalarText ?? to["table"]?.scalarText ?? name
    }
    // Said now, and not after the first listings have run.
    _ = try Destination.sink(request)
    guard request.table != nil || value["to"] != nil else {
      throw SyncFileError(
        "to", "A file holds one listing. Name a database, or a file for each listing by its own to."
      )
    }
    return request
  }
}
