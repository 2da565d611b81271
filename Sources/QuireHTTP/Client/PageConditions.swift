import HTTPTypes
import QuireCore
import QuirePagination

/// The conditions of the request for a page: by which validators it asks whether the page has changed, and which ones
/// the page leaves for the next time (RFC 9110, §13).
struct PageConditions {
  let exchange: Exchange
  /// What a consumer that keeps pages has of the page; nil where it keeps none.
  let known: KnownPage?

  private var request: PageRequest { exchange.request }
  private var listing: Listing { exchange.listing }
  private var shared: PageClient.Shared { listing.client.shared }

  /// What the page was the last time, as a consumer that keeps pages has it or as the client has seen it; nil where
  /// the request is not conditional.
  var entry: PageValidators.Entry? {
    guard known?.version != nil || known == nil && shared.configuration.validators != nil,
      allowsConditions
    else { return nil }
    guard let known else {
      guard isToldByURL else { return nil }
      return shared.configuration.validators?.entry(for: key)
    }
    guard let version = known.version, version.request == exchange.requestIdentity else {
      return nil
    }
    return PageValidators.Entry(
      entityTag: version.entityTag, lastModified: version.lastModified, next: known.next,
      itemCount: known.itemCount)
  }

  /// Whether the request is a GET without conditions of the caller's own.
  private var allowsConditions: Bool {
    let names: [HTTPField.Name] = [.ifNoneMatch, .ifModifiedSince, .range]
    let given = shared.configuration.headers.appending(request.headerFields)
    return request.method == .get && !names.contains { given.contains($0) }
  }

  /// Whether the request's identity tells the page from the others of its listing: not where a cursor is in a field
  /// or in a body, nor in a parameter that it leaves out as a secret, such as "token". A request that a page
  /// describes may lack fields of the first.
  private var isToldByURL: Bool {
    let (first, secrets) = (listing.engine.first, listing.secrets)
    let hidden = Secret.all(in: PageRequest(url: request.url), [:])
    guard hidden.allSatisfy({ secrets.holds($0.value) }) else { return false }
    if request.headerFields == first.headerFields, request.body == first.body { return true }
    return request.url != first.url && request.body == .none
      && request.headerFields.allSatisfy { first.headerFields[values: $0.name].contains($0.value) }
  }

  /// By what validators know the page. Where cursors may stand beside the request's identity, what older snapshots
  /// have under that is of the last page, and leads nowhere.
  private var key: String {
    let isBeside =
      request.body != .none
      || listing.engine.routes.contains {
        switch $0.send {
        case .header: true
        case .query(let name, _): SecretName.matches(name)
        default: false
        }
      }
    return exchange.requestIdentity + (isBeside ? " #first" : "")
  }

  /// Takes the fields of a 304.
  func renew(_ fields: HTTPFields) {
    if isToldByURL { shared.configuration.validators?.renew(fields, for: key) }
  }

  /// Has the validators of a page that was read whole kept once it is consumed, and keeps them in the page, too,
  /// where its consumer keeps pages. The page's positions hold no secrets any more.
  func keepValidators<Item>(of page: inout Page<Item>) {
    guard known != nil || shared.configuration.validators != nil, !page.hasMoreParts,
      page.nextFailure == nil, page.head.endDoubt == nil, request.method == .get,
      let response = page.http?.head, page.isUnchanged || response.status.code == 200
    else { return }
    let (tag, date) = (
      response.headerFields.first(.eTag), response.headerFields.first(.lastModified)
    )
    if known != nil, page.isUnchanged || tag != nil || date != nil {
      // Validators that a 304 names replace those that are held (RFC 9110, §15.4.5).
      let old = page.isUnchanged ? known?.version : nil
      page.head.version = PageVersion(
        request: exchange.requestIdentity, entityTag: tag ?? old?.entityTag,
        lastModified: date ?? old?.lastModified)
    }
    guard let validators = shared.configuration.validators, !page.isUnchanged, isToldByURL
    else { return }
    let entry = PageValidators.Entry(
      entityTag: tag, lastModified: date, next: page.next, itemCount: page.items.count)
    page.head.receipts.append(validators.receipt(for: entry, of: key))
  }
}
