import Foundation
import Quire
import QuireCore
import QuireDetect
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination

/// What a listing makes of the values of a parent's item: its requests, and the members that are
/// added to its items.
struct SyncRequests: Sendable {
  private let listing: SyncListing
  /// The servers that the file names, which alone get its header fields.
  private let origins: Set<Origin>
  /// The members that `with` adds, and the paths at which items must not have them already.
  private let addedMembers: [(name: String, path: PagePath)]

  init(_ listing: SyncListing, _ origins: Set<Origin>) {
    self.listing = listing
    self.origins = origins
    addedMembers = listing.with.compactMap { member in
      (try? PagePath(PagePath.pointer(to: member.name))).map { (member.name, $0) }
    }
  }

  /// Returns the cursor of the listing for a parent's values, or of one part of it.
  func cursor(
    _ values: JSONValue, _ part: Partition?, _ since: JSONValue?, by client: PageClient
  ) throws -> Cursor<RawItem> {
    let url = try listing.url.filled { value($0, in: values, part, since) }
    let origin = try Origin(url: url)
    guard origins.contains(origin) else {
      throw PageError(
        .crossOriginLink,
        "The listing \(ServerText(listing.name)) leads to \(origin), which the file does not name: it "
          + "would get the header fields that are meant for others.")
    }
    var parameters = listing.parameters
    var own = part.flatMap { listing.split?.parameters(of: $0) } ?? []
    if let name = listing.since?.parameter, let since = since?.scalarText {
      own.append((name, since))
    }
    parameters.removeAll { parameter in own.contains { $0.name == parameter.name } }
    parameters += own
    var reference = try URLReference(url)
    if !parameters.isEmpty {
      reference.query = QueryString(reference.query).replacing(parameters).raw
    }
    var options = PageClient.RequestOptions()
    options.headers = listing.headers
    options.secrets = listing.secrets
    options.method = listing.method
    if let body = listing.body { options.body = body.filled { value($0, in: values, part, since) } }
    return client.audited.cursor(
      at: reference.text, pagination: listing.pagination, pageSize: listing.pageSize,
      request: options, decoder: RawItem.decoder(for: .auto, raw: false, xmlLimits: .api))
  }

  /// Returns the server of a parent's listing.
  func origin(of parent: SyncState.Parent) throws -> Origin {
    let values = try JSONValue(parsing: parent.values)
    return try Origin(
      url: try listing.url.filled { value($0, in: values, nil, listing.since?.start) })
  }

  /// Returns the first placeholder without a usable value: the URL needs a text, the body anything
  /// but null. Throws `PageError` if a value that the listing needs was not stored for the parent's
  /// item.
  func missingValue(_ parent: SyncState.Parent) throws -> SyncPlaceholder? {
    let values = try JSONValue(parsing: parent.values)
    if let unknown = listing.placeholders.first(where: { value($0, in: values) == nil }) {
      throw listing.unnoted(unknown)
    }
    return listing.url.placeholders.first { placeholder in
      !listing.isBuiltIn(placeholder) && (value(placeholder, in: values)?.scalarText ?? "").isEmpty
    }
      ?? listing.body?.placeholders.first { value($0, in: values) == .null }
  }

  private func value(
    _ placeholder: SyncPlaceholder, in values: JSONValue, _ part: Partition? = nil,
    _ since: JSONValue? = nil
  ) -> JSONValue? {
    if listing.isBuiltIn(placeholder) {
      return placeholder.listing == SyncSplit.name
        ? SyncSplit.value(placeholder.path, of: part) : since
    }
    return values[placeholder.memberName(in: listing.parent)]
  }

  /// Returns items with the members that `with` adds.
  func addingMembers(of parent: SyncState.Parent, to items: [RawItem]) throws -> [RawItem] {
    guard !listing.with.isEmpty, !items.isEmpty else { return items }
    let values = try JSONValue(parsing: parent.values)
    let members = listing.with.map { name, placeholder in
      "\(JSONValue.string(name)):\(value(placeholder, in: values) ?? .null)"
    }.joined(separator: ",")
    return try items.map { try adding(members, to: $0) }
  }

  private func adding(_ members: String, to item: RawItem) throws -> RawItem {
    let isObject = item.isIndexedObject
    let own = try isObject ? item : RawItem(Array(item.bytes))
    for (name, path) in addedMembers where try own.compact(at: path) != nil {
      throw PageError(
        .invalidArgument,
        "Items of \(ServerText(listing.name)) have a member \(ServerText(name)) of their own, which with would "
          + "take the place of. Give its value another name.")
    }
    let object = try RawItem(Self.object(members, item.bytes.drop { $0 <= 0x20 }))
    return isObject ? object : RawItem(ExtendedItem(object: object, item: item), node: 0)
  }

  /// Returns an object of members and those of an object; of any other value as the member `value`.
  private static func object(_ members: String, _ value: ArraySlice<UInt8>) -> [UInt8] {
    guard value.first == UInt8(ascii: "{") else {
      return Array("{\(members),\"value\":".utf8) + value + [UInt8(ascii: "}")]
    }
    let own = value.dropFirst().drop { $0 <= 0x20 }
    let separator = own.first == UInt8(ascii: "}") ? "" : ","
    return Array("{\(members)\(separator)".utf8) + own
  }
}

/// An object with added members, in which paths still find what they find in the server's item: in
/// XML, elements by names that are not those of members.
private struct ExtendedItem: RawItemStorage {
  let object: RawItem
  let item: RawItem

  func bytes(of node: Int) -> ArraySlice<UInt8> { object.bytes }
  func appendCompact(_ node: Int, to output: inout [UInt8]) { object.appendCompact(to: &output) }
  func value(of node: Int) throws -> JSONValue { try object.value }

  func value(at path: PagePath, of node: Int) throws -> JSONValue? {
    try object.value(at: path) ?? item.value(at: path)
  }

  func decode<Value: Decodable>(
    _ type: Value.Type, of node: Int, with decoder: JSONDecoder
  ) throws -> Value {
    try object.decode(type, with: decoder)
  }
}

extension SyncListing {
  /// Returns the error for a value that was not stored, because the file did not ask for it when
  /// the parent was read.
  func unnoted(_ placeholder: SyncPlaceholder) -> PageError {
    PageError(
      .invalidArgument,
      "\(SyncRun.Outcome.unnoted(placeholder, for: self)) Begin the listing anew by --restart.")
  }
}
