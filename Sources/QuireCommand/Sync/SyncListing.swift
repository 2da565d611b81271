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
  /// The rule by which later runs read only what has changed.
  struct Since: Sendable {
    /// The listing name in placeholders for the greatest value: `{since:value}`.
    static let name = "since"

    var increment: Increment
    let parameter: String?
    let start: JSONValue?

    /// By default, times begin five minutes earlier, because clocks differ, and numbers begin where
    /// they ended.
    init(_ members: SyncMembers.Since, isChild: Bool) throws {
      increment = Increment(try PagePath(members.field), lookBack: .seconds(300))
      increment.numberLookBack = 0
      // A known item in one parent's listing does not end the listings of other parents.
      increment.isNewestFirst = !isChild && members.isNewestFirst
      if let back = members.lookBack {
        increment.numberLookBack = Int64(back)
        increment.lookBack = try DurationOption.duration(back, for: "since.lookBack")
      }
      parameter = members.parameter
      start = members.start
    }
  }

  let name: String
  let url: SyncTemplate
  let method: HTTPRequest.Method
  let body: SyncBody?
  let pagination: Pagination
  let parent: String?
  /// The members that are added to each item.
  let with: [(name: String, value: SyncPlaceholder)]
  private(set) var since: Since?
  /// Whether runs of the parent store only items whose listing may have changed, because the parent
  /// or one of its ancestors is read for changes.
  var readsChangedParents = false
  /// Whether runs store only items that may have changed.
  var notesChanges: Bool { since != nil || changes || readsChangedParents }
  let split: SyncSplit?
  /// Whether later runs ask for changes by the server's own token or link.
  let changes: Bool
  /// How a deleted item is recognised.
  let deleted: Tombstone?
  let destination: DestinationRequest
  let headers: HTTPFields
  let parameters: SyncMembers.Texts
  /// The values of parameters that are kept outside the file.
  let secrets: [String]
  let pageSize: Int?
  let limits: Limits
  /// Whether a missing listing of a parent counts as empty.
  let skipsMissing: Bool
  /// The parts that define the listing, by name, to compare with those of an unfinished run.
  let definition: [String: String]

  /// Creates a listing and reads, for requests, the secrets that it keeps elsewhere. `value` is the
  /// JSON of `members`, and `shared` the destination of listings without their own.
  ///
  /// Throws `SyncFileError`, or the error of an option or of the library.
  init(
    _ name: String, _ members: SyncMembers.Listing, _ value: JSONValue,
    sharing shared: DestinationRequest?, folder: String, forRequests: Bool
  ) throws {
    let place = "listings.\(name)"
    try Self.checkName(name)
    self.name = name
    url = try SyncTemplate(members.url, at: "\(place).url")
    parent = members.parent
    pagination = try Self.pagination(members, folder: folder, at: place)
    with = try (members.with ?? []).map { ($0.name, try SyncPlaceholder($0.value)) }
    since = try SyncFileError.at("\(place).since") {
      try members.since.map { try Since($0, isChild: members.parent != nil) }
    }
    destination = try Self.destination(name, members, value, shared, folder: folder, at: place)
    let key = destination.key.flatMap { $0.paths.count == 1 ? $0.paths[0] : nil }
    split = try members.split.map { try SyncSplit($0, key: key, at: "\(place).split") }
    changes = members.changes
    deleted = try SyncFileError.at("\(place).deleted") {
      try members.deleted.map { Tombstone(try PagePath($0.field), is: $0.value) }
    }
    let written = members.parameters ?? []
    headers = try SyncFile.headers(
      forRequests ? members.headers : nil, at: "\(place).headers", in: folder)
    parameters = try forRequests ? Self.resolved(written, in: folder, at: place) : written
    secrets = zip(parameters, written).filter { $0.value != $1.value }.map { $0.0.value }
    body = try Self.body(members.body, headers, pagination, folder: folder, at: place)
    method = try Self.method(members.method, hasBody: body != nil, at: place)
    pageSize = members.pageSize
    // The walk of each parent limits empty pages itself; many parents in a row may have no items.
    limits = Limits(pages: members.maxPages, items: members.maxItems, consecutiveEmptyPages: .max)
    skipsMissing = members.missing == .skip
    definition = Self.definition(members, value, pagination)
    let scope = scope
    since?.increment.scope = scope
    try checkKey(at: place)
    try checkChanges(at: place)
    try checkPlaceholders(written, at: place)
  }

  /// Returns parameters with the values that are kept outside the file.
  private static func resolved(
    _ written: SyncMembers.Texts, in folder: String, at place: String
  ) throws -> SyncMembers.Texts {
    try SyncFileError.at("\(place).parameters") {
      try written.map { name, text in
        (name, try HeaderOption.value(SyncFile.secret(text, in: folder), for: name))
      }
    }
  }

  private static func checkName(_ name: String) throws(SyncFileError) {
    guard name.isEmpty || name.unicodeScalars.contains(where: { $0.value < 0x20 }) else { return }
    throw SyncFileError(
      "listings", "\(ServerText(name)) is no name: it is empty, or more than a line.", member: name)
  }

  private static func definition(
    _ members: SyncMembers.Listing, _ value: JSONValue, _ pagination: Pagination
  ) -> [String: String] {
    [
      "url": members.url, "for": members.parent ?? "", "pagination": pagination.json,
      "parameters": "\(value["parameters"] ?? .null)", "with": "\(value["with"] ?? .null)",
      "pageSize": members.pageSize.map(String.init) ?? "", "split": "\(value["split"] ?? .null)",
    ].merging(
      ["method", "body"].compactMap { name in value[name].map { (name, "\($0)") } }
    ) { $1 }
  }

  /// A digest of the request, the field and the members of the parent: stored increments apply to
  /// this combination only.
  private var scope: String {
    let request =
      ["url", "for", "pagination", "parameters"].map { definition[$0] ?? "" }
      + ["method", "body"].compactMap { definition[$0] }
      + with.map { "\($0.name): \($0.value.memberName(in: parent))" }
    var sum = FileSum()
    let scope = (request + [since?.increment.field.text ?? ""]).joined(separator: "\n")
    sum.add(Array(scope.utf8))
    return sum.text
  }

  /// Throws if what comes again or is gone could not be told from what is there.
  private func checkKey(at place: String) throws(SyncFileError) {
    for (member, isGiven) in [("since", since != nil), ("changes", changes)] where isGiven {
      guard destination.key != nil else {
        throw SyncFileError(
          "\(place).\(member)",
          "What comes again has to take the place of what is there: say by key where.")
      }
      guard destination.mode != .replace else {
        throw SyncFileError(
          place,
          "Each run would replace all by what has changed, and what has not would be lost. Leave out mode: by its "
            + "key, what comes again takes its own place.", member: "mode")
      }
    }
    guard deleted == nil || destination.key != nil else {
      throw SyncFileError(
        "\(place).deleted", "What is gone has to be found to be taken away: say by key where.")
    }
    guard deleted == nil || destination.mode == .upsert else {
      throw SyncFileError(
        "\(place).deleted",
        "Only what comes again under its key can be taken away, and what says that it is gone would be stored beside "
          + "it. Leave out mode.")
    }
    if let mark = deleted, mark.value == nil,
      mark.path.steps.isEmpty || destination.key?.paths.contains(mark.path) == true
    {
      throw SyncFileError(
        "\(place).deleted",
        "Every item has something there, and all would be taken away. Name what only those have that are gone, or a "
          + "value by field and value.")
    }
  }

  /// Throws if two rules for later runs exclude each other, or if the server gives no single token
  /// for later changes.
  private func checkChanges(at place: String) throws(SyncFileError) {
    guard since == nil || split == nil else {
      throw SyncFileError(
        "\(place).split", "since reads what has changed, and no parts: say one of the two.")
    }
    guard changes else { return }
    let several: String? =
      parent != nil ? "for" : since != nil ? "since" : split != nil ? "split" : nil
    let reason: String? =
      pagination.resume == nil
      ? "The description does not say by resume what the server gives for later changes."
      : several.map { "A listing has one token for its changes, and \($0) makes several of it." }
    if let reason { throw SyncFileError("\(place).changes", reason) }
  }

  /// All placeholders for values of ancestors' items.
  var placeholders: [SyncPlaceholder] {
    (requestPlaceholders + with.map(\.value)).filter { !isBuiltIn($0) }
  }

  /// All placeholders in requests.
  private var requestPlaceholders: [SyncPlaceholder] {
    url.placeholders + (body?.placeholders ?? [])
  }

  /// Whether a placeholder stands for a part's bound or an increment's value, not for an
  /// ancestor's.
  func isBuiltIn(_ placeholder: SyncPlaceholder) -> Bool {
    split != nil && placeholder.listing == SyncSplit.name
      || since != nil && placeholder.listing == Since.name
  }

  /// The units, for several machines, of a listing without a parent: its parts, or groups of
  /// adjacent parts if there are more than 10,000.
  var units: [String] {
    guard let split else { return [SyncState.Parent.none.values] }
    return split.split(of: nil).ranges(atMost: 10_000).map {
      "{\"\(SyncSplit.name)\":[\($0.lowerBound),\($0.upperBound)]}"
    }
  }

  /// Throws if requests would be the same for all parents or for all parts.
  private func checkPlaceholders(
    _ parameters: SyncMembers.Texts, at place: String
  ) throws {
    let placeholder = #/\{\+?[A-Za-z_][\w.\/:-]*\}/#
    if parent != nil || split != nil,
      let parameter = parameters.first(where: { $0.value.contains(placeholder) })
    {
      throw SyncFileError(
        "\(place).parameters.\(ServerText(parameter.name))",
        "Values of a parent and bounds of a part go into url, such as …?\(ServerText(parameter.name))={name}."
      )
    }
    if let split { try split.check(requestPlaceholders, at: "\(place).split") }
    try checkSince(at: "\(place).since")
    guard parent != nil, placeholders.isEmpty else { return }
    throw SyncFileError(
      "\(place).url",
      "It is the same for all parents. Name what it needs of their items, such as {id}, or leave out for."
    )
  }

  /// Throws if no request contains the greatest value, or if the first URL would have none.
  private func checkSince(at place: String) throws(SyncFileError) {
    guard let since else { return }
    let names = requestPlaceholders.names(of: Since.name)
    if let unknown = names.first(where: { $0 != "value" }) {
      throw SyncFileError(
        place, "An increment has no \(ServerText(unknown)). Write {since:value}.")
    }
    // A listing that begins with the newest item ends at a known one, without a value in requests.
    guard since.parameter != nil || !names.isEmpty || since.increment.isNewestFirst else {
      throw SyncFileError(
        place,
        "Its requests say nothing of it: name the query parameter by parameter, or write {since:value} in "
          + "url or body"
          + (parent == nil
            ? ", or say newestFirst: true where it begins with the newest item."
            : ". Listings with for are read to their end, whatever their order."))
    }
    guard since.start != nil || url.placeholders.names(of: Since.name).isEmpty else {
      throw SyncFileError(
        "\(place).start", "The first run has nothing to write into the URL: say what by start.")
    }
  }

  private static func pagination(
    _ members: SyncMembers.Listing, folder: String, at place: String
  ) throws -> Pagination {
    var pagination: Pagination
    switch (members.preset, members.pagination) {
    case (let name?, nil): pagination = try Pagination.preset(named: name)
    case (nil, .string(let file)?):
      let path = SyncFile.resolved(file, in: folder)
      pagination = try Pagination(json: try InputFile.read(path, for: "\(place).pagination"))
    case (nil, let description?): pagination = try Pagination(json: Array("\(description)".utf8))
    case (nil, nil):
      throw SyncFileError(place, "Say how it is paged by preset or pagination.")
    default: throw SyncFileError(place, "preset and pagination exclude each other.")
    }
    if let items = members.items {
      pagination = pagination.items(at: .path(try PagePath(items)))
    }
    guard pagination.items.missingPath == nil else {
      throw SyncFileError(
        place, "The description does not say where the items are: say it by items.")
    }
    return pagination
  }

  private static func body(
    _ value: JSONValue?, _ headers: HTTPFields, _ pagination: Pagination, folder: String,
    at place: String
  ) throws -> SyncBody? {
    guard let value else { return nil }
    guard let text = value.string else { return SyncBody(.json(value)) }
    return try SyncFileError.at(place) {
      SyncBody(
        try BodyOption.body(
          SyncFile.secret(text, in: folder), contentType: headers[.contentType], for: pagination,
          option: "body"))
    }
  }

  private static func method(
    _ name: String?, hasBody: Bool, at place: String
  ) throws(SyncFileError) -> HTTPRequest.Method {
    guard let name else { return hasBody ? .post : .get }
    guard let method = HTTPRequest.Method(name.uppercased()) else {
      throw SyncFileError("\(place).method", "\(ServerText(name)) is not a method's name.")
    }
    return method
  }

  /// Throws if a text with commas stands in the place of a list.
  private static func checkList(_ value: JSONValue?, at place: String) throws(SyncFileError) {
    guard let text = value?.string, text.contains(",") else { return }
    throw SyncFileError(place, "One name is a text, and several are a list: [\(ServerText(text))].")
  }

  private static func destination(
    _ name: String, _ members: SyncMembers.Listing, _ value: JSONValue,
    _ shared: DestinationRequest?, folder: String, at place: String
  ) throws -> DestinationRequest {
    guard var request = members.destination ?? shared else {
      throw SyncFileError(place, "Say by to where its items go, here or for all listings.")
    }
    try SyncFile.checkPath(
      request.path, in: folder, at: members.destination == nil ? "to" : "\(place).to")
    try checkList(value["columns"], at: "\(place).columns")
    try checkList(value["key"], at: "\(place).key")
    request.path = SyncFile.resolved(request.path, in: folder)
    request.columns = try members.columns?.map { try TableColumn($0) }
    request.key = try members.key.map { try TableKey(texts: $0) }
    request.mode = members.mode ?? (request.key == nil ? .replace : .upsert)
    request.comesFromOptions = false
    request.table = members.table ?? request.table
    if DestinationKind.isDatabase(request.path) { request.table = request.table ?? name }
    try request.check(try request.sink(), at: place)
    guard request.table != nil || members.destination != nil else {
      throw SyncFileError(
        "to", "A file holds one listing. Name a database, or a file for each listing by its own to."
      )
    }
    return request
  }
}
