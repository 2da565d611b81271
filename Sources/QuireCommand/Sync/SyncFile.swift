import Foundation
import HTTPTypes
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination

/// A sync file after reading and checking. Nothing is opened or requested yet.
struct SyncFile: Sendable {
  /// The file's own path.
  let path: String
  /// The place of the state between runs: a file, or a database that several machines share.
  let statePath: String
  /// Whether several machines share the state.
  var isShared: Bool { DestinationKind.isPostgres(statePath) }
  /// The file's name without its extension, which identifies the sync in a shared state.
  var name: String { ((path as NSString).lastPathComponent as NSString).deletingPathExtension }
  /// The listings, parents before their children, else in the order of the file.
  let listings: [SyncListing]
  let client: PageClient
  /// The servers that the file names, which alone get its header fields.
  let origins: Set<Origin>

  /// Reads a YAML or JSON file and, for requests, the secrets that it keeps elsewhere. Throws
  /// `SyncFileError` with the place of the error.
  ///
  /// `state` overrides the file's own place of the state; `parallel` is the number of requests that are
  /// sent to one server at a time.
  init(path: String, state: String? = nil, parallel: Int = 1, forRequests: Bool) throws {
    let document = try SyncDocument(
      try InputFile.read(path, for: "quire sync"), isJSON: path.hasSuffix(".json"))
    do {
      try self.init(
        path: path, document.value, state: state, parallel: parallel, forRequests: forRequests)
    } catch let error as SyncFileError {
      throw document.located(error)
    }
  }

  private init(
    path: String, _ value: JSONValue, state: String?, parallel: Int, forRequests: Bool
  ) throws {
    let members = try SyncMembers(value)
    self.path = path
    let folder = (path as NSString).deletingLastPathComponent
    let base = (path as NSString).deletingPathExtension
    if let state { try Self.checkPath(state, in: "", at: "--state") }
    if let state = members.state { try Self.checkPath(state, in: folder, at: "state") }
    statePath =
      state.map { Self.resolved($0, in: "") }
      ?? members.state.map { Self.resolved($0, in: folder) } ?? "\(base).state.db"
    let found = try members.listings.map { name, listing in
      try SyncFileError.at("listings.\(name)") {
        try SyncListing(
          name, listing, value["listings"]?[name] ?? .null, sharing: members.destination,
          folder: folder, forRequests: forRequests)
      }
    }
    listings = try Self.ordered(found)
    try Self.checkDistinct(found, path: path, statePath: statePath)
    origins = try Set(
      found.filter { !$0.url.text.hasPrefix("{") }.map { listing in
        try SyncFileError.at("listings.\(listing.name).url") { try Origin(url: listing.url.text) }
      })
    client = try SyncClient(
      members: members.client ?? SyncMembers.Client(), folder: folder, origins: origins,
      parallel: parallel
    ).client(forRequests: forRequests)
    for origin in origins where !origin.isTrustworthy && !client.configuration.allowsPlainHTTP {
      throw SyncFileError(
        "listings",
        "\(origin) would get requests in the clear. Use https, or client.allowPlainHTTP.")
    }
  }

  /// Returns the listings with these names, in order; all if `names` is empty.
  func listings(named names: [String]) -> [SyncListing] {
    listings.filter { names.isEmpty || names.contains($0.name) }
  }

  static func resolved(_ path: String, in folder: String) -> String {
    path.hasPrefix("/") || path.contains("://") || folder.isEmpty ? path : "\(folder)/\(path)"
  }

  /// Returns a text for `HeaderOption.value`, in which `@file` is resolved beside the sync file,
  /// like all its paths.
  static func secret(_ text: String, in folder: String) -> String {
    text.hasPrefix("@") && text != "@-"
      ? "@\(resolved(String(text.dropFirst()), in: folder))" : text
  }

  static func headers(
    _ members: SyncMembers.Texts?, at place: String, in folder: String
  ) throws -> HTTPFields {
    var fields = HTTPFields()
    for member in members ?? [] {
      let text = secret(member.value, in: folder)
      fields.append(
        try SyncFileError.at(place) { try HeaderOption.field("\(member.name): \(text)") })
    }
    return fields
  }

  // MARK: Order

  private static func ordered(_ listings: [SyncListing]) throws -> [SyncListing] {
    let names = listings.map(\.name)
    for listing in listings {
      guard let parent = listing.parent else { continue }
      guard names.contains(parent) else {
        throw SyncFileError(
          "listings.\(listing.name).for",
          "There is no listing \(ServerText(parent)).\(NearestName.hint(parent, in: names))")
      }
    }
    var ordered: [SyncListing] = []
    var rest = listings
    while !rest.isEmpty {
      let ready = rest.filter { listing in
        listing.parent.map { parent in ordered.contains { $0.name == parent } } ?? true
      }
      guard !ready.isEmpty else {
        throw SyncFileError(
          "listings.\(rest[0].name).for",
          "The listing is its own ancestor: nothing could be read first.")
      }
      ordered += ready
      rest.removeAll { listing in ready.contains { $0.name == listing.name } }
    }
    for listing in ordered {
      try check(listing, ordered)
      try checkWhole(listing, ordered)
    }
    for index in ordered.indices {
      ordered[index].readsChangedParents = ordered.contains {
        $0.name == ordered[index].parent && $0.notesChanges
      }
    }
    return ordered
  }

  /// Throws if each round would replace all items by those of changed parents only.
  private static func checkWhole(_ listing: SyncListing, _ all: [SyncListing]) throws {
    guard listing.destination.mode == .replace else { return }
    for ancestor in ancestors(of: listing, among: all)
    where ancestor.since != nil || ancestor.changes {
      throw SyncFileError(
        "listings.\(listing.name)",
        "It is replaced as a whole, and is read for those of \(ServerText(ancestor.name)) alone that have changed: "
          + "the items of all others would be lost. Say by key which item takes the place of which."
      )
    }
  }

  /// Returns the listing's parent, that parent's parent, and so on.
  private static func ancestors(
    of listing: SyncListing, among all: [SyncListing]
  ) -> [SyncListing] {
    Array(
      sequence(state: listing) { last in
        guard let parent = all.first(where: { $0.name == last.parent }) else { return nil }
        last = parent
        return parent
      })
  }

  /// Throws if a placeholder names a listing that is not an ancestor.
  private static func check(_ listing: SyncListing, _ all: [SyncListing]) throws {
    let ancestors = ancestors(of: listing, among: all).map(\.name)
    for placeholder in listing.placeholders {
      guard let name = placeholder.listing ?? ancestors.first, ancestors.contains(name) else {
        throw SyncFileError(
          "listings.\(listing.name)",
          ancestors.isEmpty
            ? "A placeholder needs a parent: say by for: whose items it is filled from."
            : "\(ServerText(placeholder.listing ?? "")) is no ancestor of it."
              + NearestName.hint(placeholder.listing ?? "", in: ancestors))
      }
    }
  }
}

extension JSONValue {
  /// The text of a string, a number or a truth value; nil for other values.
  var scalarText: String? {
    switch self {
    case .string(let text): text
    case .number, .bool: description
    case .null, .array, .object: nil
    }
  }
}
