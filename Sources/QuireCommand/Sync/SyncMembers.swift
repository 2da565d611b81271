import QuireCore
import QuireExport
import QuirePagination

/// The members of a sync file, as they are written. Reading, errors, hints for misspelt names and the
/// JSON Schema follow from the form of each object.
struct SyncMembers: Sendable {
  typealias Texts = [(name: String, value: String)]

  var schemaAddress: String?
  var client: Client?
  var destination: DestinationRequest?
  var state: String?
  var listings: [(name: String, value: Listing)] = []

  fileprivate static let form = Form<SyncMembers>.object(
    "A sync file", SyncMembers(),
    [
      .optional("$schema", \.schemaAddress, as: text, "The JSON Schema of this file, for editors."),
      .optional("client", \.client, as: Client.form, "What all requests share."),
      .optional(
        "to", \.destination, as: place,
        "Where listings go that do not say it themselves."),
      .optional(
        "state", \.state, as: text,
        "What is known between runs: a file, or postgres://… for several machines. Default: beside this one, .state.db."
      ),
      .required(
        "listings", \.listings, as: Listing.form.byName(nonEmpty: true),
        "The listings by name, which is also that of their table."),
    ])

  /// The settings of all requests.
  struct Client: Sendable {
    var headers: Texts?
    var retries: Int?
    var patience: String?
    var maxRetryAfter: String?
    var rate: String?
    var rateReserve: Int?
    var token: Token?
    var proxy: String?
    var addresses: String?
    var certificate: Certificate?
    var caFile: String?
    var allowsPlainHTTP = false

    fileprivate static let form = Form<Client>.object(
      "A client", Client(),
      [
        .optional(
          "headers", \.headers, as: texts,
          "Header fields. env:VARIABLE and @file keep secrets out of this file."),
        .optional(
          "retries", \.retries, as: Form<Int>.count(from: 0),
          "How often a request is repeated. Default: as quire export."),
        .optional(
          "patience", \.patience, as: text, "How long an outage is waited out, such as 2h."),
        .optional(
          "maxRetryAfter", \.maxRetryAfter, as: text,
          "The longest wait that a server may ask for, such as 2h. Default: 70m, as limits may be of an hour."
        ),
        .optional(
          "rate", \.rate, as: text,
          "At most so many requests in a time, such as 5/s or 5000/h, of all listings together."),
        .optional(
          "rateReserve", \.rateReserve, as: Form<Int>.count(from: 0),
          "How many requests of what the server allows to leave for other programs."),
        .optional(
          "token", \.token, as: Token.form,
          "Gets bearer tokens, and gets them anew before their time is over and when one is refused."
        ),
        .optional(
          "proxy", \.proxy, as: text,
          "The proxy to go through, or env for what the environment says; env:VARIABLE and @file."),
        .optional(
          "addresses", \.addresses, as: text,
          "Which addresses servers may lead to: standard, public, any or allow:NETWORK."),
        .optional(
          "certificate", \.certificate, as: Certificate.form,
          "The client certificate, for servers that ask for one."),
        .optional(
          "caFile", \.caFile, as: text, "Trust only the certificate authorities in this file."),
        .optional(
          "allowPlainHTTP", \.allowsPlainHTTP, "Send requests in the clear to other machines."),
      ])
  }

  /// The source of bearer tokens.
  struct Token: Sendable {
    var url = ""
    var fields: Texts = []
    var headers: Texts?
    var server: String?

    fileprivate static let form = Form<Token>.object(
      "A token source", Token(),
      [
        .required("url", \.url, as: text, "Where a token is asked for by POST (RFC 6749)."),
        .required(
          "form", \.fields, as: texts,
          "The form that is sent, such as grant_type, client_id and client_secret; env:VARIABLE and @file."
        ),
        .optional("headers", \.headers, as: texts, "Header fields of that request."),
        .optional(
          "for", \.server, as: text,
          "The server that gets the tokens. Default: the only one of the file."),
      ])
  }

  /// A client certificate.
  struct Certificate: Sendable {
    var file = ""
    var key: String?
    var server: String?

    fileprivate static let form = Form<Certificate>.object(
      "A certificate", Certificate(),
      [
        .required("file", \.file, as: text, "The certificate, in PEM."),
        .optional("key", \.key, as: text, "Its key, in PEM. Default: in the same file."),
        .optional(
          "for", \.server, as: text, "The server that gets it. Default: the only one of the file."),
      ])
  }

  /// One listing.
  struct Listing: Sendable {
    /// What a parent gets whose listing is not there.
    enum Missing: String, FormWord { case fail, skip }

    var url = ""
    var preset: String?
    var pagination: JSONValue?
    var items: String?
    var parent: String?
    var with: Texts?
    var key: [String]?
    var mode: SinkMode?
    var destination: DestinationRequest?
    var table: String?
    var columns: [String]?
    var since: Since?
    var changes = false
    var deleted: Deleted?
    var split: Split?
    var headers: Texts?
    var method: String?
    var body: JSONValue?
    var parameters: Texts?
    var pageSize: Int?
    var maxPages: Int?
    var maxItems: Int?
    var missing = Missing.fail

    fileprivate static let form = Form<Listing>.object(
      "A listing", Listing(),
      [
        .required(
          "url", \.url, as: text,
          "The first page. {name} is a value of the parent's item, {+name} one whose slashes stay, {listing:name} one of an earlier ancestor's."
        ),
        .optional(
          "preset", \.preset, as: text, "How the listing is paged: a preset of quire presets."),
        .optional(
          "pagination", \.pagination, as: descriptionOrFile,
          "How it is paged: a description, or a file with one."),
        .optional(
          "items", \.items, as: text,
          "The path of the items, where the description does not say it."),
        .optional(
          "for", \.parent, as: text, "The parent: this listing is read for each of its items."),
        .optional(
          "with", \.with, as: texts,
          "Members that each item gets: names, and values of the parent's item."),
        .optional("key", \.key, as: list, "Where an item has its key: a path, or several."),
        .optional(
          "mode", \.mode, "What a later run does. Default: upsert with a key, else replace."),
        .optional("to", \.destination, as: place, "Where the items go."),
        .optional("table", \.table, as: text, "The table. Default: the listing's name."),
        .optional(
          "columns", \.columns, as: list,
          "The columns of a table. Default: all that items have."),
        .optional(
          "since", \.since, as: Since.form, "Read only what has changed since the last run."),
        .optional(
          "changes", \.changes,
          "Later runs ask for what has changed, by the sync token or delta link that the server gave."
        ),
        .optional(
          "deleted", \.deleted, as: Deleted.form,
          "How an item is told to be gone, which is then taken away: something at a path, or a value."
        ),
        .optional(
          "split", \.split, as: Split.form,
          "Read in parts, where the server gives only so many results: by time or by key."),
        .optional("headers", \.headers, as: texts, "Header fields of this listing's requests."),
        .optional(
          "method", \.method, as: text, "The request method. Default: GET, or POST with a body."),
        .optional(
          "body", \.body, as: requestBody,
          "The body of requests: an object or a list of JSON, in which a text that is a placeholder stands for its value; a text; or @file."
        ),
        .optional("parameters", \.parameters, as: texts, "Query parameters of the first request."),
        .optional("pageSize", \.pageSize, as: count, "How many items to ask for in a page."),
        .optional("maxPages", \.maxPages, as: count, "Read at most so many pages in a run."),
        .optional("maxItems", \.maxItems, as: count, "Read at most so many items in a run."),
        .optional(
          "missing", \.missing,
          "What a parent gets whose listing is not there (404, 410). Default: fail."),
      ])
  }

  /// The rule by which later runs read only what has changed.
  struct Since: Sendable {
    var field = ""
    var parameter: String?
    var start: JSONValue?
    var lookBack: String?
    var isNewestFirst = false

    fileprivate static let form = Form<Since>.object(
      "An increment", Since(),
      [
        .required(
          "field", \.field, as: text,
          "The path in an item of what grows with each change, such as /updated_at."),
        .optional(
          "parameter", \.parameter, as: text,
          "The query parameter that gets the greatest one; or write {since:value} in url or body."),
        .optional(
          "start", \.start, as: textOrNumber,
          "What the first run sends. Default: nothing, and null in a body."),
        .optional(
          "lookBack", \.lookBack, as: text,
          "How much earlier to begin, such as 10m, or a number. Default: 5m for times, else 0."),
        .optional(
          "newestFirst", \.isNewestFirst,
          "Whether the listing begins with the newest item: it is left behind a page that ends with a known one."
        ),
      ])
  }

  /// The mark of a deleted item: something at a path, or one value there.
  struct Deleted: Sendable {
    var field: String
    var value: JSONValue?

    fileprivate static let form = Form<Deleted>.oneOf(
      "A mark of a deleted item",
      [
        .bare(
          { (field: String) in Deleted(field: field) }, { $0.value == nil ? $0.field : nil }),
        .keys(
          (field: "", value: JSONValue.null),
          [
            .required("field", \.field, as: text, "The path in an item, such as /status."),
            .required("value", \.value, as: scalar, "The value there, such as cancelled."),
          ],
          { Deleted(field: $0.field, value: $0.value) },
          { mark in mark.value.map { (field: mark.field, value: $0) } }),
      ])
  }

  /// The rule by which a listing is read in parts.
  struct Split: Sendable {
    var start = ""
    var end: String?
    var every = ""
    var lower: String?
    var upper: String?
    /// Whether the server includes the upper value.
    var isClosed = false
    var cap: Int?
    var total: String?

    fileprivate static let form = Form<Split>.object(
      "A split", Split(),
      [
        .required(
          "start", \.start, as: text, "The first time, such as 2015-01-01, or the first key."),
        .optional(
          "end", \.end, as: text,
          "The first time or key behind the last part. Default: now, for times."),
        .required(
          "every", \.every, as: text,
          "How much a part has, such as 30d or 12h, or a number of keys. Parts with too much are halved."
        ),
        .optional(
          "lower", \.lower, as: text,
          "The query parameter that gets a part's first value; or write {split:lower}."),
        .optional(
          "upper", \.upper, as: text,
          "The query parameter that gets the first value behind it; or write {split:upper}, {split:last}."
        ),
        .optional(
          "closed", \.isClosed, "Whether the server counts the upper value in. Default: false."),
        .optional(
          "cap", \.cap, as: count,
          "The most results that the server gives. A part that reaches it is halved."),
        .optional(
          "total", \.total, as: text,
          "Where a page says how many, if the description does not, such as /total_count."),
      ])
  }
}

extension SinkMode: FormWord {}

// MARK: - Values

extension SyncMembers {
  fileprivate static let count = Form<Int>.count(from: 1)

  /// A text, which may be written as a number.
  fileprivate static let text = plainText("string", "number")

  /// Texts by name, which may be written as numbers and truth values.
  fileprivate static let texts: Form<Texts> = plainText("string", "number", "boolean").byName()

  /// A list of texts; a text alone is a list of one.
  fileprivate static let list = Form<[String]>.leaf(
    "a text or a list of texts", "lists of texts", "[text]",
    schema: [
      "anyOf": [
        ["type": "string"], ["type": "array", "items": ["type": "string"], "minItems": 1],
      ]
    ],
    read: { value in
      guard case .array(let elements) = value else { return value.string.map { [$0] } }
      let texts = elements.compactMap(\.string)
      return texts.isEmpty || texts.count < elements.count ? nil : texts
    },
    write: { .array($0.map { .string($0) }) }, expand: { .string($0) })

  fileprivate static let textOrNumber = json("a text", "string", "number")
  fileprivate static let scalar = json(
    "a text, a number, true or false", "string", "number", "boolean")
  fileprivate static let descriptionOrFile = json(
    "a description or a file's name", "string", "object")
  fileprivate static let requestBody = json(
    "an object, a list or a text", "object", "array", "string")

  private static func plainText(_ types: String...) -> Form<String> {
    Form<String>.leaf(
      "a text", "texts", "text", schema: ["type": .array(types.map(JSONValue.string))],
      read: { types.contains($0.schemaType) ? $0.scalarText : nil }, write: { .string($0) },
      expand: { .string($0) })
  }

  /// A file, or a table of a database.
  fileprivate static let place = Form<DestinationRequest>.oneOf(
    "A destination",
    [
      .bare(
        { (path: String) in DestinationRequest(path: path) },
        { $0.table == nil ? $0.path : nil }),
      .keys(
        DestinationRequest(path: ""),
        [
          .required("path", \.path, as: text, "A file, a database, or postgres://…."),
          .optional("table", \.table, as: text, "The table. Default: the listing's name."),
        ], { $0 }, { $0 }),
    ])

  /// Returns a form for JSON of these types, which is kept as it is written.
  private static func json(_ noun: String, _ types: String...) -> Form<JSONValue> {
    Form<JSONValue>.leaf(
      noun, noun, "value", schema: ["type": .array(types.map(JSONValue.string))],
      read: { types.contains($0.schemaType) ? $0 : nil }, write: { $0 }, expand: { .string($0) })
  }
}

extension JSONValue {
  /// The name of the value's type in a JSON Schema.
  fileprivate var schemaType: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .number: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}

// MARK: - Files

extension SyncMembers {
  /// Reads the members of a file. Throws an error with the place of a member that is unknown, lacking
  /// or of another kind.
  init(_ value: JSONValue) throws(SyncFileError) {
    do throws(FormFailure) {
      self = try Self.form.read(value)
    } catch {
      throw SyncFileError(error)
    }
  }

  /// The JSON Schema (2020-12) of a sync file.
  static var schema: JSONValue {
    guard case .object(let members) = form.schema else { return .null }
    return .object(
      [
        .init("$schema", "https://json-schema.org/draft/2020-12/schema"),
        .init("title", "A file of quire sync"),
      ] + members)
  }
}
