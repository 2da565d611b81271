/// Everything a page carries but its items.
package struct PageHead: Sendable {
  package var index = 0
  package var position = Position.start
  package var next: Position?
  package var nextFailure: PageError?
  package var hasMoreParts = false
  package var fingerprint: Int?
  package var sample: PageSample?
  package var address: Int?
  /// How many pages the source can be asked for at the same time; nil when it does not say.
  package var readsAtOnce: Int?
  package var previous: Position?
  package var startsMidway = false
  package var closing: Position?
  package var total: Total?
  package var metadata = PageMetadata()
  package var traffic = Traffic()
  package var warnings: [WalkReport.Warning] = []
  package var endDoubt: PageError?
  package var origins: [ItemOrigins]?
  var mark: ItemMark?

  /// A head that copies of a page share.
  //
  // SAFETY: whoever changes it makes sure to be the only one who refers to it; see `Page.head`.
  final class Shared: @unchecked Sendable {
    var head: PageHead

    init(_ head: PageHead) { self.head = head }
  }
}
