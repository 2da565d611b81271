import HTTPTypes
import QuireCore
import QuireJSON
import QuirePagination

extension PaginationDetector {
  /// How well a description fits; nil when it cannot be meant. Items at a `place` that was looked up
  /// in the answer speak for nothing.
  func fit(
    of pagination: Pagination, preset: Pagination.Preset?, at place: PagePath? = nil,
    traits: [PaginationVocabulary.Atoms]? = nil
  ) -> DetectorFit? {
    let pagination = links.map(pagination.links) ?? pagination
    guard
      isAmong(pagination.formats),
      let count = itemCount(of: pagination.items),
      let engine = try? PaginationEngine(pagination, first: answer.request, home: home)
    else { return nil }
    var fit = DetectorFit(preset: preset, pagination: pagination, place: place)
    fit.itemCount = count.items
    var explained: Set<String> = []
    var hasNext = false
    var expectsNext = false
    for traits in traits ?? PaginationVocabulary.atoms(of: pagination) {
      let trait = traits.trait
      let (finding, atom) = find(traits, items: pagination.items, count: count)
      if trait.role == .next {
        if case .absent = finding {
          // Without items there is no last one to look at.
          expectsNext = expectsNext || !(trait.isOfItems && count.items == 0)
          if trait.isAlternative, !hasNext { fit.score -= Weights.absentAlternative }
        } else {
          // Of several ways the first one that is there is gone.
          if trait.isAlternative, hasNext {
            explained.formUnion(trait.names)
            continue
          }
          hasNext = true
        }
      }
      weigh(trait, finding, at: atom, explained: &explained, in: &fit)
    }
    if expectsNext, !hasNext {
      // A list that is all there is has no more than its total.
      fit.score -=
        saysMore(than: count.items, pagination.total)
        ? Weights.noNext.saysMore : Weights.noNext.maybeLast
      fit.leadsNowhere = true
      fit.doubts.append("nothing leads on: it may be the last page")
    }
    judgeValues(of: pagination, in: &fit)
    judgeEchoes(of: pagination, in: &fit)
    judgePlace(of: pagination.items, isThere: count.isThere, in: &fit)
    // Where several fit alike, the name that says least is the one that claims least.
    if preset?.isGeneric == true { fit.score += Weights.generic }
    fit.score -= unexplained(by: explained)
    for sign in signs where sign.kind == .flag && !explained.contains(sign.key) {
      fit.doubts.append("\(Self.quoted(sign.place)) is not looked at")
    }
    let counts = pagination.routes.contains { $0.next.isCounter }
    if counts, signs.contains(where: { $0.leadsOn && !explained.contains($0.key) }) {
      fit.score -= Weights.countsBeside
    }
    fit.isAsked = isAsked(pagination)
    settle(engine, in: &fit)
    guard case .next(let request) = fit.outcome else { return fit }
    if hasPlaceholder(request) { return nil }
    if preset?.isGeneric ?? true { judgeParameter(of: pagination, in: &fit) }
    return fit
  }

  /// Whether the answer is in one of a description's formats.
  private func isAmong(_ formats: [PageFormat]) -> Bool {
    if answer.document.isXML { return formats.isEmpty || formats.contains(.xml) }
    guard answer.document is JSONDocument, !formats.isEmpty else { return true }
    // A walk by a preset whose pages are JSON would take lines of it for a page that is broken.
    return rowsFormat.map(formats.contains) ?? (formats != [.xml])
  }

  // MARK: Items

  /// How many items a selector finds, and whether it finds their place; nil where it does not fit.
  private func itemCount(of items: Pagination.Items) -> (items: Int, isThere: Bool)? {
    if answer.document is EmptyDocument || answer.document is UnreadableDocument {
      return (0, false)
    }
    // Everything in an element is a list only where all of it has one name.
    if answer.document.isXML, items == .root, !outline.isListOfOne { return nil }
    guard let count = lookups.count(of: items) else { return nil }
    return (count, count > 0 || items.paths.contains { lookups.count(at: $0) != nil })
  }

  /// Items that are nowhere, where the page has a list elsewhere, are not what is meant.
  private func judgePlace(of items: Pagination.Items, isThere: Bool, in fit: inout DetectorFit) {
    guard fit.itemCount == 0, !isThere, let list = outline.likelyList(vocabulary) else { return }
    let places = items.paths.map(\.place).joined(separator: " or ")
    fit.score -= Weights.misplaced
    fit.isMisplaced = true
    fit.doubts.append(
      "there is no item at \(places), and \(PagePath.place(list.path)) has \(list.count)")
  }

  // MARK: What speaks against it

  /// Whether the answer declares more than came.
  private func saysMore(than count: Int, _ total: Pagination.TotalSource?) -> Bool {
    guard let total, total.kind != .remaining, total.kind != .pages,
      let declared = lookups.value(at: total.source, items: .root)?.count
    else { return false }
    return declared > count
  }

  /// What the answer has and the description does not account for.
  private func unexplained(by explained: Set<String>) -> Double {
    let open = signs.filter { !explained.contains($0.key) }
    let explainsNext = signs.contains {
      $0.leadsOn && explained.contains($0.key)
    }
    return open.reduce(0) { sum, sign in
      let isNext = sign.leadsOn
      // Servers like to say one thing in several ways.
      return sum + (isNext && explainsNext ? Weights.saidTwice : sign.weight)
    }
  }

  /// A link that is sent as a token, or a token that is followed as a link, is a misunderstanding;
  /// so is a body that goes along where only a link is followed, and a token in the query beside one.
  private func judgeValues(of pagination: Pagination, in fit: inout DetectorFit) {
    let hasBody = answer.request.body != .none
    for route in pagination.routes {
      guard case .body(let path) = route.next.root,
        let value = lookups.value(at: .body(path), items: pagination.items), !value.isBlank
      else { continue }
      let link = value.link ?? value.plainText
      let isWhole = link.contains("://")
      switch route.send {
      case .url, .request:
        if !DetectorSign.isLink(link), !isWhole, !path.leadsToLink {
          fit.score -= Weights.misunderstanding
        }
        // By its syntax a number may be a relative link.
        if value.integer != nil { fit.score -= Weights.misunderstanding }
        let describes = value["method"] != nil || value["body"] != nil
        if describes {
          fit.score += route.send == .request ? Weights.describedRequest : -Weights.describedRequest
        }
        if hasBody, pagination.request.method == .same, route.send == .url {
          fit.score -= Weights.dropsBody
        }
      case .query, .header, .jsonBody, .form, .xmlBody, .path, .placeholder:
        if isWhole, route.next.transforms.isEmpty { fit.score -= Weights.misunderstanding }
        if hasBody, case .query = route.send { fit.score -= Weights.queryBesideBody }
      case .queryMerge, .bodyMerge, .itemRange, .firstOf: break
      }
    }
  }

  /// A counter goes where counters go beside what the request or the answer has.
  private func judgeParameter(of pagination: Pagination, in fit: inout DetectorFit) {
    guard pagination.routes.count == 1, let route = pagination.routes.first, route.next.isCounter
    else { return }
    if parametersBesideSize.contains(route.send) {
      fit.evidence.append("the request's page size has a name that goes with the parameter")
    } else if isJSONAPI, answer.request.body == .none, parametersOfJSONAPI.contains(route.send) {
      fit.evidence.append("the page is JSON:API, whose servers page by the parameter")
    } else {
      return
    }
    fit.score += Weights.besideSize
  }

  // MARK: Behaviour

  private func settle(_ engine: PaginationEngine, in fit: inout DetectorFit) {
    do {
      switch try engine.screen(answer) {
      case .failure(let failure):
        fit.outcome = .failure
        fit.doubts.append("it is a failure: \(failure.message ?? "\(failure.kind.rawValue)")")
      case .end:
        fit.outcome = .end
        fit.score += Weights.toldEnd
        fit.isFounded = true
        fit.isToldEnd = true
        fit.evidence.append("it is what the description calls the end")
      case .page, .emptyPage:
        let next = engine.continuation(after: answer, itemCount: fit.itemCount)
        if let failure = next.nextFailure {
          fit.outcome = .refused(failure.code.description)
          fit.doubts.append(failure.message)
          fit.remedies += failure.remedies
        } else if let position = next.next {
          fit.outcome = .next(try engine.request(at: position))
        } else {
          fit.outcome = .end
        }
      }
    } catch {
      let code = (error as? PageError)?.code.description ?? "\(error)"
      fit.outcome = .refused(code)
      fit.doubts.append((error as? PageError)?.message ?? "\(error)")
    }
  }
}

extension PagePath {
  /// A path that leads nowhere, where the number of items is all that is asked.
  static let nowhere: PagePath = "/quire-none"

  /// Whether the path says that it leads to a link.
  var leadsToLink: Bool {
    let text = text.lowercased()
    return ["href", "rel=", "relation=", "url", "uri", "link"].contains(where: text.contains)
  }
}

extension DetectorSign {
  /// Whether it leads to another page.
  var leadsOn: Bool { kind == .link || kind == .field || kind == .token }

  /// By what a trait is matched with it.
  var key: String {
    switch kind {
    case .link: "link:next"
    case .field: "field:" + name
    case .token, .flag, .total, .pages: name
    }
  }
}

/// How well one description fits an answer.
struct DetectorFit {
  /// Where the description leads from the answer.
  enum Outcome: Hashable {
    case next(PageRequest)
    case end
    /// Why the continuation cannot be followed.
    case refused(String)
    /// The answer is no page.
    case failure
  }

  var preset: Pagination.Preset?
  /// The preset's other name that the description is of; nil for its own.
  var variant: String?
  var pagination: Pagination
  /// The names of the path that the preset's own place was replaced by.
  var place: PagePath?
  var score = 0.0
  var outcome = Outcome.end
  var itemCount = 0
  /// Whether the answer itself says how it goes on or ends, so that nothing is guessed.
  var isFounded = false
  /// Whether its items or its total are where hardly any other description looks.
  var isDistinct = false
  /// Whether it has no items, while the page has a list that it does not look at.
  var isMisplaced = false
  /// Whether it expects the page to say how it goes on, and the page does not.
  var leadsNowhere = false
  /// Whether the page says that it goes on or is the last, in a way that the description expects.
  var isToldEnd = false
  /// Whether it continues by a parameter of the request.
  var isAsked = false
  /// What speaks for it.
  var evidence: [String] = []
  /// What speaks against it.
  var doubts: [String] = []
  /// What may be changed about that.
  var remedies: [Remedy] = []

  /// The description as one writes it.
  var swift: String {
    if let variant { return "try .preset(named: \(variant.swiftLiteral))" }
    return preset?.swift(at: place) ?? pagination.swift
  }

  /// Whether the link to the next page must not be followed.
  var isRefused: Bool { if case .refused = outcome { true } else { false } }

  /// Whether the answer itself says that another page follows.
  var goesOn: Bool { if case .next = outcome { isFounded } else { false } }

  /// Where the description reads a token; nil where it reads a link or none.
  var token: Pagination.Next? {
    guard let route = pagination.routes.first, !route.next.isCounter, route.send != .url else {
      return nil
    }
    return route.next.root
  }

  /// What two descriptions share that do the same with this answer.
  var behaviour: Behaviour { Behaviour(outcome: outcome, itemCount: itemCount) }

  struct Behaviour: Hashable {
    var outcome: Outcome
    var itemCount: Int
  }
}

/// What paths find in one answer, each looked up once: many descriptions look for the same.
///
/// A class, because a lookup changes nothing but the time the next one takes; used by one task.
final class DetectorLookups {
  private let answer: PageAnswer
  private var values: [Pagination.ValueSource: JSONValue?] = [:]
  private var counts: [PagePath: Int?] = [:]
  private var items: [Pagination.Items: Int?] = [:]

  init(_ answer: PageAnswer) { self.answer = answer }

  /// The value at a source; nil where there is none, or more than one.
  func value(at source: Pagination.ValueSource, items: Pagination.Items) -> JSONValue? {
    if case .lastItem = source { return find(source, items) }
    if let known = values[source] { return known }
    let value = find(source, items)
    values[source] = .some(value)
    return value
  }

  private func find(_ source: Pagination.ValueSource, _ items: Pagination.Items) -> JSONValue? {
    (try? answer.value(at: source, items: items)) ?? nil
  }

  /// How many elements the container at a path has.
  func count(at path: PagePath) -> Int? {
    if let known = counts[path] { return known }
    let count = (try? answer.document.count(at: path)) ?? nil
    counts[path] = .some(count)
    return count
  }

  /// How many items a selector finds; nil where there is no such list.
  func count(of selector: Pagination.Items) -> Int? {
    if let known = items[selector] { return known }
    let count = (try? answer.document.values(at: .nowhere, inItemsOf: selector))?.count
    items[selector] = .some(count)
    return count
  }
}
