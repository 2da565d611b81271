/// The pages of some content in a viewport, along one axis: offsets of the view to pages and back.
public struct PageGeometry: Hashable, Sendable {
  /// How long a page is. When it is not positive there are no pages.
  public let page: Double
  /// The offset at which page 0 rests.
  public let origin: Double
  /// The window, and how long the content is.
  public let viewport: Viewport

  init(page: Double, origin: Double, viewport: Viewport) {
    self.page = page
    self.origin = origin
    self.viewport = viewport
  }

  /// How many pages the content has; the last one may be shorter.
  public var pageCount: Int {
    guard page > 0, viewport.content > 0 else { return 0 }
    return Int((viewport.content / page).rounded(.up))
  }

  /// The offset at which a page rests; not clamped to the content.
  public func offset(ofPage index: Int) -> Double { offset(ofPosition: Double(index) * page) }

  /// The offset at which a position, counted from the start of page 0, lies where pages rest.
  public func offset(ofPosition position: Double) -> Double { position + origin }

  /// The position, counted from the start of page 0, that lies where pages rest: the inverse of
  /// `offset(ofPosition:)`.
  public func position(ofOffset offset: Double) -> Double { offset - origin }

  /// The page whose place the offset has reached, from 0 to the last one.
  public func currentIndex(at offset: Double) -> Int {
    index((position(ofOffset: offset) / page).rounded(.down))
  }

  /// The page whose place is nearest to the offset, from 0 to the last one.
  public func nearestIndex(at offset: Double) -> Int {
    index((position(ofOffset: offset) / page).rounded())
  }

  /// The page of something that begins at `start` in the content, from 0 to the last one.
  public func page(ofContentAt start: Double) -> Int { index((start / page).rounded(.down)) }

  private func index(_ wanted: Double) -> Int {
    let last = pageCount - 1
    return last > 0 ? Int(min(max(wanted, 0), Double(last))) : 0
  }

  /// The offset at which a page rests without showing what lies behind the content.
  public func stop(ofPage index: Int) -> Double {
    min(offset(ofPage: index), max(origin, viewport.endOffset))
  }

  /// The items of a page, where each item is one unit long: disjoint, and together all of them. Nil
  /// when there is no such page.
  public func items(ofPage index: Int) -> Range<Int>? {
    guard index >= 0, index < pageCount else { return nil }
    let end = Int(viewport.content)
    return min(Int(Double(index) * page), end)..<min(Int(Double(index + 1) * page), end)
  }

  /// What is visible at an offset, where each item is one unit long.
  public func visibleItems(at offset: Double) -> Range<Int> {
    let start = min(max(0, offset + viewport.leading), viewport.content)
    let end = min(max(start, offset + viewport.extent - viewport.trailing), viewport.content)
    return Int(start.rounded(.down))..<Int(end.rounded(.up))
  }
}
