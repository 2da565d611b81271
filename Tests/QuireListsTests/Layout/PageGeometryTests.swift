import QuireCore
import QuireLists
import QuireTesting
import Testing

@Suite struct PageGeometryTests {
  private func offsets(
    _ axis: PageAxis, _ viewport: Viewport, count: Int = 3
  ) -> [Double] {
    (0..<count).map { axis.geometry(in: viewport).offset(ofPage: $0) }
  }

  private let screen = Viewport(content: 8120, extent: 812)
  private let covered = Viewport(content: 8120, extent: 812, leading: 88, trailing: 34)

  @Test("CP-01: by default pages are as large as the view, at its start, and layouts are values")
  func defaults() {
    let layout = PageLayout()
    #expect(layout == .full)
    #expect(layout.horizontal == PageAxis(.full, alignment: .start))
    let wide = Viewport(content: 1125, extent: 375)
    #expect(layout.geometry(along: .horizontal, in: wide)?.page == 375)
    #expect(layout.geometry(along: .vertical, in: screen)?.page == 812)
    #expect(offsets(PageAxis(), wide) == [0, 375, 750])
    #expect(PageAxis().sizeInsets == PageAxis.Insets())
    #expect(PageAxis().usesLeading && PageAxis().usesTrailing)
    #expect(PageAxis(alignment: .center) != PageAxis())
  }

  @Test("CP-02: an absolute page ignores view and insets; an axis without pages passes through")
  func absolute() {
    for viewport in [screen, covered, Viewport(content: 10, extent: 1)] {
      #expect(PageAxis(.absolute(100)).geometry(in: viewport).page == 100)
    }
    let layout = PageLayout(horizontal: PageAxis(.absolute(100)), vertical: nil)
    #expect(layout.rest(along: .vertical, offset: 37, in: screen) == 37)
    #expect(layout.rest(along: .horizontal, offset: 137, in: screen) == 100)
  }

  @Test("CP-03: a fraction is of what nothing covers")
  func fractional() {
    #expect(PageAxis(.fractional(0.5)).geometry(in: covered).page == 345)
    #expect(PageAxis(.fractional(0.5)).geometry(in: screen).page == 406)
  }

  @Test("CP-04: full, fullWidth and fullHeight are a fraction of 1 on their axes")
  func full() {
    let whole = PageAxis(.fractional(1))
    #expect(PageLayout.full == PageLayout(horizontal: whole, vertical: whole))
    #expect(PageLayout.fullWidth == PageLayout(horizontal: whole, vertical: nil))
    #expect(PageLayout.fullHeight == PageLayout(horizontal: nil, vertical: whole))
  }

  @Test("CP-05: pages of 100, moved from the start by 100")
  func firstExample() {
    let axis = PageAxis(.absolute(100), positionInsets: .init(leading: 100))
    #expect(offsets(axis, Viewport(content: 1000, extent: 375)) == [-100, 0, 100])
  }

  @Test("CP-06: half pages in the middle, with and without insets")
  func secondExample() {
    let axis = PageAxis(.fractional(0.5), alignment: .center)
    #expect(offsets(axis, screen) == [-203, 203, 609])
    #expect(offsets(axis, covered) == [-260.5, 84.5, 429.5])
  }

  @Test("CP-07: size insets make pages smaller, and move them")
  func thirdExample() {
    let axis = PageAxis(
      .fractional(0.5), alignment: .end, sizeInsets: .init(leading: 10, trailing: 10))
    #expect(axis.geometry(in: screen).page == 396)
    #expect(offsets(axis, screen) == [-406, -10, 386])
  }

  @Test("CP-08: five pages of 194 in the middle of 375")
  func demo() {
    let viewport = Viewport(content: 5 * 194, extent: 375)
    let axis = PageAxis(.absolute(194), alignment: .center)
    #expect(offsets(axis, viewport, count: 5) == [-90.5, 103.5, 297.5, 491.5, 685.5])
    #expect(axis.geometry(in: viewport).pageCount == 5)
  }

  @Test("CP-09: an edge that is not used covers nothing")
  func edges() {
    #expect(PageAxis(usesLeading: false).geometry(in: covered).page == 778)
    #expect(PageAxis(usesTrailing: false).geometry(in: covered).page == 724)
    #expect(
      PageAxis(usesLeading: false, usesTrailing: false).geometry(in: covered).page == 812)
  }

  @Test("CP-10: position insets move pages from the start, from the end, or by the difference")
  func positionInsets() {
    let insets = PageAxis.Insets(leading: 10, trailing: 4)
    for (alignment, shift) in [
      (PageAxis.Alignment.start, -10.0), (.end, 4), (.center, -6),
    ] {
      let plain = offsets(PageAxis(.absolute(100), alignment: alignment), screen)
      let moved = offsets(
        PageAxis(.absolute(100), alignment: alignment, positionInsets: insets), screen)
      #expect(moved == plain.map { $0 + shift })
    }
  }

  @Test("CP-11: from offsets to positions and back is where it was, for any layout")
  func roundTrips() {
    let leading = PageAxis(.absolute(100), positionInsets: .init(leading: 100))
    let example = leading.geometry(in: Viewport(content: 1000, extent: 375))
    #expect(example.offset(ofPage: 1) == 0)
    #expect(example.position(ofOffset: 0) == 100)
    #expect(example.offset(ofPosition: 100) == 0)
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10_000 {
      let geometry = anyAxis(&random).geometry(in: anyViewport(&random))
      // Quarters are exact in binary, so nothing is lost to rounding.
      let offset = Double(Int.random(in: -4000...4000, using: &random)) / 4
      #expect(
        geometry.offset(ofPosition: geometry.position(ofOffset: offset)) == offset,
        "seed \(seed), \(geometry)")
      guard geometry.pageCount > 0 else { continue }
      let index = Int.random(in: 0..<geometry.pageCount, using: &random)
      let place = geometry.offset(ofPage: index)
      #expect(geometry.nearestIndex(at: place) == index, "seed \(seed), \(geometry)")
    }
  }

  @Test("CP-13, CP-21: indices and stops are clamped, and slices are disjoint, for any layout")
  func clamps() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10_000 {
      let geometry = anyAxis(&random).geometry(in: anyViewport(&random))
      let offset = Double(Int.random(in: -40_000...40_000, using: &random)) / 4
      let bounds = 0...max(0, geometry.pageCount - 1)
      #expect(bounds.contains(geometry.currentIndex(at: offset)), "seed \(seed)")
      #expect(bounds.contains(geometry.nearestIndex(at: offset)), "seed \(seed)")
      #expect(bounds.contains(geometry.page(ofContentAt: offset)), "seed \(seed)")
      let nearest = abs(geometry.nearestIndex(at: offset) - geometry.currentIndex(at: offset))
      #expect(nearest <= 1, "seed \(seed)")
      var end = 0
      for index in 0..<min(geometry.pageCount, 50) {
        let items = geometry.items(ofPage: index)
        #expect(items?.lowerBound == end, "seed \(seed)")
        end = items?.upperBound ?? -1
        #expect(geometry.stop(ofPage: index) <= geometry.offset(ofPage: index), "seed \(seed)")
      }
      #expect(geometry.items(ofPage: geometry.pageCount) == nil)
    }
  }

  private func anyAxis(_ random: inout SeededGenerator) -> PageAxis {
    func quarter(_ range: ClosedRange<Int>) -> Double {
      Double(Int.random(in: range, using: &random)) / 4
    }
    let extent: PageAxis.Extent =
      Bool.random(using: &random)
      ? .absolute(quarter(-40...800))
      : .fractional([0.25, 0.5, 1, 2].randomElement(using: &random) ?? 1)
    return PageAxis(
      extent, alignment: PageAxis.Alignment.allCases.randomElement(using: &random) ?? .start,
      usesLeading: .random(using: &random), usesTrailing: .random(using: &random),
      sizeInsets: .init(leading: quarter(0...100), trailing: quarter(0...100)),
      positionInsets: .init(leading: quarter(-100...100), trailing: quarter(-100...100)))
  }

  private func anyViewport(_ random: inout SeededGenerator) -> Viewport {
    Viewport(
      content: Double(Int.random(in: 0...4000, using: &random)),
      extent: Double(Int.random(in: 0...900, using: &random)),
      leading: Double(Int.random(in: 0...100, using: &random)),
      trailing: Double(Int.random(in: 0...100, using: &random)))
  }

  @Test("CP-12: a page without length is no page, and nothing traps")
  func noPages() {
    let covered = Viewport(content: 1000, extent: 100, leading: 88, trailing: 34)
    let geometry = PageAxis().geometry(in: covered)
    #expect(geometry.pageCount == 0)
    #expect(geometry.currentIndex(at: 50) == 0)
    #expect(geometry.nearestIndex(at: 50) == 0)
    let screenful = PageAxis(.absolute(100)).geometry(in: Viewport(content: 1000, extent: 100))
    let zero = PageAxis(.absolute(0)).geometry(in: covered)
    #expect(zero.pageCount == 0)
    #expect(zero.currentIndex(at: 50) == 0)
    for number in [Double.infinity, -.infinity, .nan, 1e300, 1e-300] {
      #expect(screenful.currentIndex(at: number) == (number > 1 ? 9 : 0))
      #expect(screenful.visibleItems(at: number).upperBound <= 1000)
      let odd = PageAxis(.absolute(number == 1e-300 ? number : 1)).geometry(
        in: Viewport(content: number == 1e-300 ? 1000 : number, extent: number))
      #expect(odd.pageCount == (number > 0 ? Int.max : 0))
      #expect(odd.nearestIndex(at: 0) == 0 && odd.visibleItems(at: 0).lowerBound <= 0)
      #expect(odd.items(ofPage: 0)?.lowerBound == (number > 0 ? 0 : nil))
    }
  }

  @Test("CP-13: the current index rounds down, the nearest one rounds, both are clamped")
  func indices() {
    let geometry = PageAxis(.absolute(100)).geometry(in: Viewport(content: 1000, extent: 100))
    #expect(geometry.currentIndex(at: 199) == 1)
    #expect(geometry.nearestIndex(at: 199) == 2)
    #expect(geometry.currentIndex(at: -130) == 0)
    #expect(geometry.nearestIndex(at: -130) == 0)
    #expect(geometry.currentIndex(at: 99_999) == 9)
  }

  @Test("CP-14: an item's page is the one it begins in; an unknown item moves nothing")
  func items() {
    let hundred = PageAxis(.absolute(100)).geometry(in: Viewport(content: 1000, extent: 100))
    #expect(hundred.page(ofContentAt: 450) == 4)
    #expect(hundred.offset(ofPage: 4) == 400)
    #expect(hundred.page(ofContentAt: -1) == 0)
    var view = PageNavigator(PageAxis(.absolute(10)), in: Viewport(content: 47, extent: 20))
    #expect(view.jump(toItem: 99) == [])
    #expect(view.index == 0)
    #expect(view.jump(toItem: 46) == [.settled(4)])
  }

  @Test("CP-21: the last stop shows no more than there is, and slices have every item once")
  func stops() {
    let geometry = PageAxis(.absolute(10)).geometry(in: Viewport(content: 47, extent: 10))
    #expect((0..<5).map { geometry.stop(ofPage: $0) } == [0, 10, 20, 30, 37])
    #expect(geometry.items(ofPage: 4) == 40..<47)
    #expect(geometry.items(ofPage: 5) == nil)
  }
}
