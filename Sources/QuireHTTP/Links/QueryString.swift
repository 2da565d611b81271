/// A query string as its raw parameters: changing one leaves the bytes of all others alone.
///
/// Names are compared decoded, so `page%5Bsize%5D` and `page[size]` are one parameter; a name that
/// is new is written as it is given, with only the characters encoded that would end it.
package struct QueryString: Hashable, Sendable {
  /// `name=value`, or `name` alone, each as it stands between two ampersands.
  private var parameters: [Substring]

  /// Splits a raw query, without its question mark.
  package init(_ raw: String?) {
    parameters = raw.map { $0.split(separator: "&", omittingEmptySubsequences: false) } ?? []
  }

  /// The raw query again; nil when nothing is left.
  package var raw: String? {
    parameters.isEmpty ? nil : parameters.joined(separator: "&")
  }

  /// The decoded names with their still encoded values, in order.
  package var pairs: [(name: String, encoded: String)] {
    parameters.filter { !$0.isEmpty }.map {
      (Self.name($0), String($0.drop { $0 != "=" }.dropFirst()))
    }
  }

  /// The decoded value of the first parameter called `name`.
  package subscript(name: String) -> String? {
    parameters.first { Self.name($0) == name }.map {
      PercentEncoding.decode($0.drop { $0 != "=" }.dropFirst(), plusIsSpace: true)
    }
  }

  /// Gives `name` this already encoded value, in place of the first parameter of that name.
  package mutating func set(_ name: String, encoded value: String) {
    let matches = parameters.indices.filter { Self.name(parameters[$0]) == name }
    guard let first = matches.first else {
      if parameters == [""] { parameters = [] }
      // A trailing ampersand belongs to the raw query: fill its empty place.
      if parameters.last == "" { parameters.removeLast() }
      parameters.append("\(Self.encode(name: name))=\(value)")
      return
    }
    let written = parameters[first].prefix { $0 != "=" }
    parameters[first] = "\(written)=\(value)"
    for index in matches.dropFirst().reversed() { parameters.remove(at: index) }
  }

  /// The query with these parameters, which are not encoded yet, in place of all of the same names.
  package func replacing(_ new: [(name: String, value: String)]) -> QueryString {
    var query = self
    let names = Set(new.map(\.name))
    query.parameters.removeAll { $0.isEmpty || names.contains(Self.name($0)) }
    query.parameters += new.map {
      "\(PercentEncoding.encode($0.name, allowing: "$[]"))=\(PercentEncoding.encode($0.value))"
    }
    return query
  }

  /// Keeps only the parameters whose decoded name passes.
  package mutating func keep(where isKept: (String) -> Bool) {
    parameters.removeAll { !isKept(Self.name($0)) }
  }

  private static func name(_ parameter: Substring) -> String {
    PercentEncoding.decode(parameter.prefix { $0 != "=" }, plusIsSpace: true)
  }

  private static func encode(name: String) -> String {
    PercentEncoding.encode(name, allowing: "!$'()*,/:;?@[]")
  }
}
