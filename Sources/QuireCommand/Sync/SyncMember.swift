import ArgumentParser
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination

/// A member of a sync file: its name, kind and note. The reader's checks, the hints for misspelt
/// names and the JSON Schema are made from these.
struct SyncMember: Sendable {
  indirect enum Kind: Sendable {
    case text, flag
    /// A whole number not less than `from`.
    case wholeNumber(from: Int)
    /// A text, a number or a truth value.
    case scalar
    /// A text, or a list of texts.
    case texts
    /// One of these words.
    case word([String])
    /// An object of texts under any names.
    case textsByName
    case object([SyncMember])
    /// An object of objects of one kind, under any names.
    case objectsByName([SyncMember])
    /// A text, or an object.
    case textOr([SyncMember])
    /// A description, or the name of a file with one.
    case description
    /// The body of a request.
    case body
  }

  let name: String
  let kind: Kind
  var isRequired = false
  let note: String

  init(_ name: String, _ kind: Kind, isRequired: Bool = false, _ note: String) {
    self.name = name
    self.kind = kind
    self.isRequired = isRequired
    self.note = note
  }
}

/// The members that a sync file may have.
extension SyncMember {
  static let file: [SyncMember] = [
    SyncMember("$schema", .text, "The JSON Schema of this file, for editors."),
    SyncMember("client", .object(client), "What all requests share."),
    SyncMember("to", .textOr(destination), "Where listings go that do not say it themselves."),
    SyncMember(
      "state", .text,
      "What is known between runs: a file, or postgres://… for several machines. Default: beside this one, .state.db."
    ),
    SyncMember(
      "listings", .objectsByName(listing), isRequired: true,
      "The listings by name, which is also that of their table."),
  ]

  static let client: [SyncMember] = [
    SyncMember(
      "headers", .textsByName,
      "Header fields. env:VARIABLE and @file keep secrets out of this file."),
    SyncMember(
      "retries", .wholeNumber(from: 0),
      "How often a request is repeated. Default: as quire export."),
    SyncMember("patience", .text, "How long an outage is waited out, such as 2h."),
    SyncMember(
      "maxRetryAfter", .text,
      "The longest wait that a server may ask for, such as 2h. Default: 70m, as limits may be of an hour."
    ),
    SyncMember(
      "rate", .text,
      "At most so many requests in a time, such as 5/s or 5000/h, of all listings together."),
    SyncMember(
      "rateReserve", .wholeNumber(from: 0),
      "How many requests of what the server allows to leave for other programs."),
    SyncMember(
      "token", .object(token),
      "Gets bearer tokens, and gets them anew before their time is over and when one is refused."),
    SyncMember(
      "proxy", .text,
      "The proxy to go through, or env for what the environment says; env:VARIABLE and @file."),
    SyncMember(
      "addresses", .text,
      "Which addresses servers may lead to: standard, public, any or allow:NETWORK."),
    SyncMember(
      "certificate", .object(certificate), "The client certificate, for servers that ask for one."),
    SyncMember("caFile", .text, "Trust only the certificate authorities in this file."),
    SyncMember("allowPlainHTTP", .flag, "Send requests in the clear to other machines."),
  ]

  static let token: [SyncMember] = [
    SyncMember("url", .text, isRequired: true, "Where a token is asked for by POST (RFC 6749)."),
    SyncMember(
      "form", .textsByName, isRequired: true,
      "The form that is sent, such as grant_type, client_id and client_secret; env:VARIABLE and @file."
    ),
    SyncMember("headers", .textsByName, "Header fields of that request."),
    SyncMember("for", .text, "The server that gets the tokens. Default: the only one of the file."),
  ]

  static let certificate: [SyncMember] = [
    SyncMember("file", .text, isRequired: true, "The certificate, in PEM."),
    SyncMember("key", .text, "Its key, in PEM. Default: in the same file."),
    SyncMember("for", .text, "The server that gets it. Default: the only one of the file."),
  ]

  static let listing: [SyncMember] = [
    SyncMember(
      "url", .text, isRequired: true,
      "The first page. {name} is a value of the parent's item, {+name} one whose slashes stay, "
        + "{listing:name} one of an earlier ancestor's."),
    SyncMember("preset", .text, "How the listing is paged: a preset of quire presets."),
    SyncMember("pagination", .description, "How it is paged: a description, or a file with one."),
    SyncMember("items", .text, "The path of the items, where the description does not say it."),
    SyncMember("for", .text, "The parent: this listing is read for each of its items."),
    SyncMember(
      "with", .textsByName, "Members that each item gets: names, and values of the parent's item."),
    SyncMember("key", .texts, "Where an item has its key: a path, or several."),
    SyncMember(
      "mode", .word(SinkMode.allCases.map(\.rawValue)),
      "What a later run does. Default: upsert with a key, else replace."),
    SyncMember("to", .textOr(destination), "Where the items go."),
    SyncMember("table", .text, "The table. Default: the listing's name."),
    SyncMember("columns", .texts, "The columns of a table. Default: all that items have."),
    SyncMember("since", .object(since), "Read only what has changed since the last run."),
    SyncMember(
      "changes", .flag,
      "Later runs ask for what has changed, by the sync token or delta link that the server gave."),
    SyncMember(
      "deleted", .textOr(deleted),
      "How an item is told to be gone, which is then taken away: something at a path, or a value."),
    SyncMember(
      "split", .object(split),
      "Read in parts, where the server gives only so many results: by time or by key."),
    SyncMember("headers", .textsByName, "Header fields of this listing's requests."),
    SyncMember("method", .text, "The request method. Default: GET, or POST with a body."),
    SyncMember(
      "body", .body,
      "The body of requests: an object or a list of JSON, in which a text that is a placeholder stands for its value; "
        + "a text; or @file."),
    SyncMember("parameters", .textsByName, "Query parameters of the first request."),
    SyncMember("pageSize", .wholeNumber(from: 1), "How many items to ask for in a page."),
    SyncMember("maxPages", .wholeNumber(from: 1), "Read at most so many pages in a run."),
    SyncMember("maxItems", .wholeNumber(from: 1), "Read at most so many items in a run."),
    SyncMember(
      "missing", .word(["fail", "skip"]),
      "What a parent gets whose listing is not there (404, 410). Default: fail."),
  ]

  static let since: [SyncMember] = [
    SyncMember(
      "field", .text, isRequired: true,
      "The path in an item of what grows with each change, such as /updated_at."),
    SyncMember(
      "parameter", .text,
      "The query parameter that gets the greatest one; or write {since:value} in url or body."),
    SyncMember("start", .text, "What the first run sends. Default: nothing, and null in a body."),
    SyncMember(
      "lookBack", .text,
      "How much earlier to begin, such as 10m, or a number. Default: 5m for times, else 0."),
    SyncMember(
      "newestFirst", .flag,
      "Whether the listing begins with the newest item: it is left behind a page that ends with a known one."
    ),
  ]

  static let deleted: [SyncMember] = [
    SyncMember("field", .text, isRequired: true, "The path in an item, such as /status."),
    SyncMember("value", .scalar, isRequired: true, "The value there, such as cancelled."),
  ]

  static let split: [SyncMember] = [
    SyncMember(
      "start", .text, isRequired: true, "The first time, such as 2015-01-01, or the first key."),
    SyncMember(
      "end", .text, "The first time or key behind the last part. Default: now, for times."),
    SyncMember(
      "every", .text, isRequired: true,
      "How much a part has, such as 30d or 12h, or a number of keys. Parts with too much are halved."
    ),
    SyncMember(
      "lower", .text, "The query parameter that gets a part's first value; or write {split:lower}."),
    SyncMember(
      "upper", .text,
      "The query parameter that gets the first value behind it; or write {split:upper}, {split:last}."
    ),
    SyncMember("closed", .flag, "Whether the server counts the upper value in. Default: false."),
    SyncMember(
      "cap", .wholeNumber(from: 1),
      "The most results that the server gives. A part that reaches it is halved."),
    SyncMember(
      "total", .text,
      "Where a page says how many, if the description does not, such as /total_count."),
  ]

  static let destination: [SyncMember] = [
    SyncMember("path", .text, isRequired: true, "A file, a database, or postgres://…."),
    SyncMember("table", .text, "The table. Default: the listing's name."),
  ]
}

/// An error in a sync file: its place and its reason.
struct SyncFileError: Error, CustomStringConvertible {
  var description: String
  /// The member names that lead to the place, separated by dots.
  let path: String
  /// Whether the description already names the line.
  var isLocated = false

  /// Creates an error for a place, or for a member there.
  init(_ place: String, _ text: String, member: String? = nil) {
    description = "\(place): \(text)"
    path = [place == "the file" ? nil : place, member].compactMap(\.self).joined(separator: ".")
  }

  /// Returns the result of `read`, and turns the errors of options and of the library into one for
  /// `place`.
  static func at<Value>(_ place: String, _ read: () throws -> Value) throws -> Value {
    do {
      return try read()
    } catch let error as PageError {
      throw SyncFileError(place, error.message)
    } catch let error as ValidationError {
      throw SyncFileError(place, error.message)
    }
  }
}

// MARK: - Checking

extension SyncMember {
  /// Throws if an object has an unknown member, lacks a required one, or has a value of the wrong
  /// kind.
  static func check(
    _ value: JSONValue, _ members: [SyncMember], at place: String
  ) throws(SyncFileError) {
    guard case .object(let found) = value else {
      throw SyncFileError(place, "expected an object, not \(value.kindName).")
    }
    try checkNames(found, at: place)
    for member in found {
      guard let known = members.first(where: { $0.name == member.name }) else {
        let names = members.map(\.name).joined(separator: ", ")
        throw SyncFileError(
          place,
          "There is no member \(ServerText(member.name)).\(NearestName.hint(member.name, in: members.map(\.name)))"
            + " Known are \(names).", member: member.name)
      }
      try known.check(member.value, at: place == "the file" ? known.name : "\(place).\(known.name)")
    }
    for member in members where member.isRequired && value[member.name] == nil {
      throw SyncFileError(place, "\(member.name) is missing. \(member.note)")
    }
  }

  /// Throws if a name appears twice. The YAML parser refuses that already, but JSON allows it (RFC
  /// 8259, §4), and one of the two values would be lost.
  private static func checkNames(
    _ members: [JSONValue.Member], at place: String
  ) throws(SyncFileError) {
    guard let name = members.map(\.name).firstRepeated else { return }
    throw SyncFileError(place, "\(ServerText(name)) is there twice. Keep one.", member: name)
  }

  private func check(_ value: JSONValue, at place: String) throws(SyncFileError) {
    switch (kind, value) {
    case (.text, .string), (.text, .number), (.scalar, .string), (.scalar, .number),
      (.scalar, .bool),
      (.flag, .bool), (.texts, .string), (.textOr, .string),
      (.description, .string), (.description, .object),
      (.body, .string), (.body, .object), (.body, .array):
      return
    case (.wholeNumber(let least), .number):
      guard let number = value.integer, number >= least else {
        throw SyncFileError(
          place,
          "expected a whole number from \(least) on, in 18 digits at most, not \(ServerText(value.description))."
        )
      }
    case (.texts, .array(let elements)):
      guard elements.allSatisfy({ $0.string != nil }), !elements.isEmpty else {
        throw SyncFileError(place, "expected texts.")
      }
    case (.word(let words), .string(let word)):
      guard words.contains(word) else {
        throw SyncFileError(
          place,
          "expected one of \(words.joined(separator: ", ")).\(NearestName.hint(word, in: words))")
      }
    case (.textsByName, .object(let members)):
      try Self.checkNames(members, at: place)
      for member in members {
        switch member.value {
        case .string, .number, .bool: continue
        default: throw SyncFileError("\(place).\(ServerText(member.name))", "expected a text.")
        }
      }
    case (.object(let members), .object), (.textOr(let members), .object):
      try Self.check(value, members, at: place)
    case (.objectsByName(let members), .object(let found)):
      guard !found.isEmpty else { throw SyncFileError(place, "There is none.") }
      try Self.checkNames(found, at: place)
      for member in found {
        guard !member.name.isEmpty, !member.name.unicodeScalars.contains(where: { $0.value < 0x20 })
        else {
          throw SyncFileError(
            place, "\(ServerText(member.name)) is no name: it is empty, or more than a line.",
            member: member.name)
        }
        try Self.check(member.value, members, at: "\(place).\(ServerText(member.name))")
      }
    case (.wholeNumber, .string(let text)):
      throw SyncFileError(
        place,
        "expected a whole number in digits alone and without quotes, not \(ServerText(text)). \(note)"
      )
    default:
      throw SyncFileError(place, "expected \(kind.noun), not \(value.kindName). \(note)")
    }
  }
}

extension SyncMember.Kind {
  fileprivate var noun: String {
    switch self {
    case .text, .word: "a text"
    case .wholeNumber: "a whole number"
    case .flag: "true or false"
    case .scalar: "a text, a number, true or false"
    case .texts: "a text or a list of texts"
    case .textsByName: "names and texts"
    case .object: "an object"
    case .objectsByName: "names and objects"
    case .textOr: "a text or an object"
    case .description: "a description or a file's name"
    case .body: "an object, a list or a text"
    }
  }
}

extension JSONValue {
  fileprivate var kindName: String {
    switch self {
    case .null: "nothing"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a text"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

// MARK: - JSON Schema

extension SyncMember {
  /// The JSON Schema (2020-12) of a sync file.
  static var schema: JSONValue {
    guard case .object(let members) = schema(of: file) else { return .null }
    return .object(
      [
        .init("$schema", "https://json-schema.org/draft/2020-12/schema"),
        .init("title", "A file of quire sync"),
      ] + members)
  }

  fileprivate static func schema(of members: [SyncMember]) -> JSONValue {
    .schema(of: members.map { ($0.name, $0.kind.schema.described($0.note), $0.isRequired) })
  }
}

extension SyncMember.Kind {
  fileprivate var schema: JSONValue {
    let text: JSONValue = ["type": "string"]
    return switch self {
    case .text: ["type": ["string", "number"]]
    case .scalar: ["type": ["string", "number", "boolean"]]
    case .wholeNumber(let least): ["type": "integer", "minimum": .number("\(least)")]
    case .flag: ["type": "boolean"]
    case .texts: ["anyOf": [text, ["type": "array", "items": text, "minItems": 1]]]
    case .word(let words): ["enum": .array(words.map { .string($0) })]
    case .textsByName:
      ["type": "object", "additionalProperties": ["type": ["string", "number", "boolean"]]]
    case .object(let members): SyncMember.schema(of: members)
    case .objectsByName(let members):
      [
        "type": "object", "minProperties": 1,
        "additionalProperties": SyncMember.schema(of: members),
      ]
    case .textOr(let members): ["anyOf": [text, SyncMember.schema(of: members)]]
    case .description: ["anyOf": [text, ["type": "object"]]]
    case .body: ["type": ["object", "array", "string"]]
    }
  }
}
