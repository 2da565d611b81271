import QuireCore

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// The continuations of a synthetic listing: what its pages say, and what its requests send back.
extension SyntheticListing {
  /// The query parameter of a continuation that is a query.
  static let mergedName = "place"

  /// The numbers of all items on a page, in the order of the server: those that come again on the
  /// next page, and the last page again behind it, are among them.
  func numbers(onPage page: Int) -> [Int] {
    let page = ending == .repetition ? min(page, sizes.count - 1) : page
    let new = items(onPage: page)
    let end = min(new.upperBound + pagination.policy.overlap, itemCount)
    let numbers = Array(new.lowerBound..<max(end, new.upperBound))
    return pagination.policy.reversesItems ? numbers.reversed() : numbers
  }

  /// What an answer gives for requests to repeat: the one to the opening request, or a page.
  func carried(_ name: String, after page: Int) -> JSONValue {
    .string("\(name) after \(page)+/=&")
  }

  /// What leads to a page, before the description changes it.
  func token(to page: Int) -> JSONValue {
    let start = items(onPage: page).lowerBound
    if let first = offset { return .number(String(first + start)) }
    switch route.next.untransformed {
    case .pageNumber(let first, _): return .number(String(first + page))
    case .lastItem, .maxItem: return key(ofItem: start - 1 + pagination.policy.overlap)
    case .firstItem: return key(ofItem: items(onPage: page - 1).lowerBound)
    // Whatever a URL gives another meaning to, but in a header field nothing it cannot hold.
    case .header where !route.next.takesNumbers: return .string("h\(page)+/=&%20;\"x\"")
    case .all where route.next.isFromItems:
      return key(ofItem: start - 1 + pagination.policy.overlap)
    default: return route.next.takesNumbers ? .number("\(page)00") : .string("t\(page)+/=&%20 é")
    }
  }

  /// The first offset, where continuations are offsets: the route counts, or one beside it does that
  /// sends the same.
  private var offset: Int? {
    var routes = [route]
    if case .firstOf(let all) = pagination.next, !route.send.followsLinks {
      routes += all.filter { $0.send == route.send }
    }
    for route in routes {
      switch route.next.untransformed {
      case .offset(let first, _), .contentRange(let first): return first
      default: continue
      }
    }
    return nil
  }

  /// What an item has where a source looks for a cursor.
  func key(ofItem item: Int) -> JSONValue {
    route.next.takesNumbers ? .number(String(1000 + item)) : .string("k\(item)+/ é")
  }

  /// The link to a page.
  func link(to page: Int) -> String { "https://api.test/next?at=\(page)&as=a+b%2Fc;'|$" }

  /// What a request for a page carries.
  func sent(to page: Int) throws -> JSONValue {
    try route.next.told.transforms.reduce(token(to: page)) { value, transform in
      switch transform {
      case .adding, .template, .jsonText:
        try transform.apply(to: value, pageSize: pageSize) ?? value
      // Undone where the page was made.
      case .queryItem, .formDecoded, .json: value
      }
    }
  }
}

extension Pagination.ValueTransform {
  /// What a page must hold, for the transform to make this value of it.
  func undone(_ value: JSONValue) -> JSONValue {
    switch self {
    case .queryItem(let name):
      .string("https://api.test/else?x=1&\(name)=\(PercentEncoding.encode(value.plainText))&y=2")
    case .formDecoded:
      .string(PercentEncoding.encode(value.plainText).replacing("%20", with: "+"))
    case .json: .string(value.description)
    case .adding, .template, .jsonText: value
    }
  }
}

extension Pagination.Next {
  /// Whether continuations are taken from items, so that there is one wherever there are items.
  var isFromItems: Bool {
    switch untransformed {
    case .lastItem, .firstItem, .maxItem: true
    case .body(let path): path.text.contains("[last()]")
    case .all(let sources): sources.values.contains(where: \.isFromItems)
    default: false
    }
  }

  /// Whether a transform of the source calculates, or writes JSON.
  fileprivate var takesNumbers: Bool {
    switch untransformed {
    case .maxItem: true
    case .all(let sources): sources.values.contains(where: \.takesNumbers)
    default:
      transforms.contains { transform in
        switch transform {
        case .adding, .json: true
        case .queryItem, .formDecoded, .template, .jsonText: false
        }
      }
    }
  }

  /// The source by whose value requests are told apart: itself, or the first of several.
  fileprivate var told: Pagination.Next {
    guard case .all(let sources) = self else { return self }
    return sources.min { $0.key < $1.key }?.value ?? self
  }

  var isAll: Bool { if case .all = self { true } else { false } }

  /// Where the source looks inside items.
  var itemPaths: [PagePath] {
    switch untransformed {
    case .lastItem(let path), .firstItem(let path), .maxItem(let path): [path]
    case .all(let sources): sources.values.flatMap(\.itemPaths)
    default: []
    }
  }
}
