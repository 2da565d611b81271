import HTTPTypes
import QuireCore
import QuirePagination

/// The conditions of a request for a page (RFC 9110, §13): the validators that it sends, and those
/// that the page leaves for the next time.
struct PageConditions {
  let exchange: Exchange
  /// The stored page of a consumer that keeps pages; nil if the consumer keeps none.
  let known: KnownPage?

  private var request: PageRequest { exchange.request }
  private var listing: Listing { exchange.listing }
  private var shared: PageClient.Shared { listing.client.shared }

  /// The validators to send, from the consumer's stored page or from the client's store; nil if the
  /// request is not conditional.
  var entry: PageValidators.Entry? {
    guard known?.version != nil || known == nil && shared.configuration.validators != nil,
      allowsConditions
    else { return nil }
    guard let known else {
      guard isIdentifiedByURL else { return nil }
      return shared.configuration.validators?.entry(for: key)
    }
    guard let version = known.version, version.request == exchange.requestIdentity else {
      return nil
    }
    return PageValidators.Entry(
      entityTag: version.entityTag, lastModified: version.lastModified, next: known.next,
      itemCount: known.itemCount)
  }

  /// Whether the request is a GET without the caller's own conditions.
  private var allowsConditions: Bool {
    let names: [HTTPField.Name] = [.ifNoneMatch, .ifModifiedSince, .range]
    let given = shared.configuration.headers.appending(request.headerFields)
    return request.method == .get && !names.contains { given.contains($0) }
  }

  /// Whether the request's identity distinguishes the page from the others of its listing. False if
  /// a cursor is in a field, in a body, or in a parameter that the identity redacts, such as
  /// "token". A request that a page describes may lack fields of the first.
  private var isIdentifiedByURL: Bool {
    let (first, secrets) = (listing.engine.first, listing.secrets)
    let hidden = Secret.all(in: PageRequest(url: request.url), [:])
    guard hidden.allSatisfy({ secrets.holds($0.value) }) else { return false }
    if request.headerFields == first.headerFields, request.body == first.body { return true }
    return request.url != first.url && request.body == .none
      && request.headerFields.allSatisfy { first.headerFields[values: $0.name].contains($0.value) }
  }

  /// The key of the page in the store of validators. If cursors may be outside the request's
  /// identity, the key has a suffix: older snapshots have validators of the last page under the
  /// plain identity.
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

  /// Updates the stored validators by the fields of a 304.
  func renew(_ fields: HTTPFields) {
    if isIdentifiedByURL { shared.configuration.validators?.renew(fields, for: key) }
  }

  /// Stores the validators of a complete page once it is consumed, and also in the page if its
  /// consumer keeps pages. Requires that the page's positions are redacted already.
  func keepValidators<Item>(of page: inout Page<Item>) {
    guard known != nil || shared.configuration.validators != nil, !page.hasMoreParts,
      page.nextFailure == nil, page.head.endDoubt == nil, request.method == .get,
      let response = page.http?.head, page.isUnchanged || response.status.code == 200
    else { return }
    let (tag, date) = (
      response.headerFields.first(.eTag), response.headerFields.first(.lastModified)
    )
    if known != nil, page.isUnchanged || tag != nil || date != nil {
      // Validators in a 304 replace the stored ones (RFC 9110, §15.4.5).
      let old = page.isUnchanged ? known?.version : nil
      page.head.version = PageVersion(
        request: exchange.requestIdentity, entityTag: tag ?? old?.entityTag,
        lastModified: date ?? old?.lastModified)
    }
    guard let validators = shared.configuration.validators, !page.isUnchanged, isIdentifiedByURL
    else { return }
    let entry = PageValidators.Entry(
      entityTag: tag, lastModified: date, next: page.next, itemCount: page.items.count)
    page.head.receipts.append(validators.receipt(for: entry, of: key))
  }
}
