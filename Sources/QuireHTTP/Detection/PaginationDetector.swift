package import QuireCore

/// Tells from one answer how its listing is paged.
///
/// Pure: takes the request, the answer's head and the decoded page, and asks every preset what it
/// recognises in them. What a preset looks for is read off its own description, and weighs the more the
/// fewer presets look for it; what the answer has and a description leaves unsaid speaks against that
/// description. Costs are bounded by the number of presets and the size of the page, whatever is in
/// it.
package struct PaginationDetector {
  let answer: PageAnswer
  let home: Origin
  let outline: PageOutline
  let vocabulary: PaginationVocabulary
  let signs: [DetectorSign]
  /// The request, for what it says already.
  let sent: RequestEditor
  let parameters: [Parameter]
  /// What stands in the request for where a page starts.
  let placeholders: [RequestPlaceholder]
  let lookups: DetectorLookups
  /// Where the items may be, the likeliest first.
  let lists: [PagePath]
  /// Where an object around the items may be.
  let containers: [PagePath]
  /// What descriptions have in place of their own link policy; nil for their own.
  let links: LinkPolicy?

  /// A detector for an answer to a listing's first request.
  ///
  /// Throws `invalidURL` for a request that is none.
  package init(_ answer: PageAnswer, links: LinkPolicy? = nil) throws(PageError) {
    // The answer came to a request without placeholders, whatever the walk's own has.
    try self.init(answer, links: links, placeholders: [])
  }

  init(
    _ answer: PageAnswer, links: LinkPolicy?, placeholders: [RequestPlaceholder]
  ) throws(PageError) {
    self.answer = answer
    self.links = links
    home = try Origin(url: answer.request.url)
    outline = (answer.document as? any OutlinedDocument)?.outline ?? PageOutline()
    vocabulary = .shared
    signs = DetectorSign.all(in: answer, outline: outline, vocabulary: vocabulary)
    lookups = DetectorLookups(answer)
    sent = RequestEditor(answer.request)
    parameters = Self.parameters(of: sent)
    self.placeholders = placeholders
    lists = outline.lists(vocabulary, isXML: answer.document.isXML)
    containers = outline.containers
  }

  /// Every description that fits, best first.
  func fits() -> [DetectorFit] {
    var fits = vocabulary.presets.flatMap(fits(of:))
    fits += compositions().compactMap { pagination in
      fit(of: pagination, preset: nil).map {
        var fit = $0
        // A preset knows more than can be read off an answer: limits, failures, ends.
        fit.score -= 4
        return fit
      }
    }
    if answer.document is EmptyDocument || answer.document is UnreadableDocument {
      // Only the head speaks.
      fits.removeAll { !$0.isFounded }
    }
    return fits.sorted { ($1.rank, $0.name) < ($0.rank, $1.name) }
  }

  private func fits(of preset: PaginationVocabulary.Entry) -> [DetectorFit] {
    let pagination = preset.preset.pagination.fitted(to: answer.request)
    let own = fit(of: pagination, preset: preset.preset, traits: preset.traits)
    if let own, own.itemCount > 0 || !preset.preset.takesPlace { return [own] }
    // A preset that knows its place is found elsewhere only once in a while.
    let places =
      preset.preset.takesContainer
      ? containers : preset.preset.takesPlace ? lists : Array(lists.prefix(1))
    let elsewhere = places.compactMap { place in fit(of: preset.preset, at: place) }
    return (elsewhere + [own].compactMap(\.self)).max { $0.score < $1.score }.map { [$0] } ?? []
  }

  /// How well a preset fits with its items at another place.
  private func fit(of preset: PaginationPreset, at place: PagePath) -> DetectorFit? {
    guard let pagination = preset.pagination(at: place)?.fitted(to: answer.request),
      var fit = fit(of: pagination, preset: preset, at: place)
    else { return nil }
    // That somebody's items are just there is nothing that only they would have.
    let isGeneric = Pagination.genericPresets.contains { $0.name == preset.name }
    fit.score -= !preset.takesPlace ? 5 : isGeneric ? 0 : 0.5
    return fit
  }
}

extension DetectorFit {
  /// By what descriptions are tried one after the other: first those that go on by what the caller has
  /// put into the request, however little else speaks for them.
  var rank: Double { isAsked ? score + 10 : score }

  /// The name that ties are told apart by.
  var name: String { preset?.name ?? "~" }
}
