@testable import QuireCore
import QuireLists
import QuireTesting
import Testing

@Suite struct PageNavigatorTests {
  /// A view onto ten pages of 100.
  private func view() -> PageNavigator {
    PageNavigator(PageAxis(.absolute(100)), in: Viewport(content: 1000, extent: 100))
  }

  @Test(
    "CP-15: a fast release turns the page, a slow one takes the nearest, never more than one away",
    arguments: [(20.0, 2.0, 1), (20, 0, 0), (60, 0, 1), (180, 5, 1), (180, 0, 1), (20, -2, 0)])
  func snaps(distance: Double, velocity: Double, page: Int) {
    var view = view()
    view.begin()
    #expect(view.release(distance: distance, velocity: velocity) == [.willSettle(page)])
    view.settle()
    #expect(view.index == page)
  }

  @Test("CP-15: on the last page a fast release stays there")
  func snapsAtTheEnd() {
    var view = view()
    view.jump(to: 9)
    view.begin()
    #expect(view.release(distance: 20, velocity: 5) == [.willSettle(9)])
  }

  @Test("CP-16: a swipe that begins before the last one has settled counts from its target")
  func quickSwipes() {
    var view = view()
    for page in 1...3 {
      view.begin()
      #expect(view.release(distance: 20, velocity: 2) == [.willSettle(page)])
    }
    #expect(view.settle() == [.settled(3)])
    #expect(view.settle() == [])
  }

  @Test("CP-17: without paging a release stays where it is")
  func withoutPaging() {
    var view = view()
    #expect(view.isPagingEnabled)
    view.isPagingEnabled = false
    view.begin()
    view.release(distance: 137)
    #expect(view.offset == 137)
    #expect(!view.isSettling)
  }

  @Test("CP-18: the same layout is no change; another one is, on the same page")
  func layouts() {
    var view = view()
    view.jump(to: 3)
    #expect(view.changeLayout(to: PageAxis(.absolute(100))) == [])
    #expect(view.changeLayout(to: PageAxis(.absolute(100), alignment: .center)) == [.layoutChanged])
    #expect(view.index == 3)
    #expect(view.offset == 300)
    #expect(view.changeLayout(to: PageAxis(.absolute(50))) == [.layoutChanged])
    #expect(view.offset == 150)
  }

  @Test("CP-19: content that grows keeps the page")
  func growth() {
    var view = PageNavigator(PageAxis(.absolute(10)), in: Viewport(content: 30, extent: 10))
    view.jump(to: 2)
    #expect(view.geometry.pageCount == 3)
    view.resize(to: Viewport(content: 40, extent: 10))
    #expect(view.geometry.pageCount == 4)
    #expect(view.index == 2)
    #expect(view.offset == 20)
  }

  @Test("CP-20: a view that is resized keeps the page")
  func resizing() {
    var view = PageNavigator(PageAxis(), in: Viewport(content: 3750, extent: 375))
    view.jump(to: 2)
    #expect(view.offset == 750)
    view.resize(to: Viewport(content: 8120, extent: 812))
    #expect(view.index == 2)
    #expect(view.offset == 1624)
    view.resize(to: Viewport(content: 812, extent: 812))
    #expect(view.index == 0)
  }

  @Test("CP-20, CP-18: a view on its way to a page that goes comes to rest on the last one")
  func shrinking() {
    let small = Viewport(content: 300, extent: 100)
    for isResized in [true, false] {
      var view = PageNavigator(PageAxis(.absolute(100)), in: Viewport(content: 1000, extent: 100))
      view.jump(to: 7)
      view.begin()
      #expect(view.release(distance: 10, velocity: 1) == [.willSettle(8)])
      if isResized {
        view.resize(to: small)
      } else {
        view.changeLayout(to: PageAxis(.absolute(400)))
      }
      #expect(view.index == 2)
      #expect(view.settle() == [.settled(2)])
      #expect(view.offset == (isResized ? 200 : 800))
    }
  }

  @Test("CP-22: a gesture is told step by step, and its flags are down at its end")
  func gesture() {
    var view = view()
    var log = view.begin()
    #expect(view.isTracking && view.isDragging && !view.isSettling)
    log += view.release(distance: 60)
    #expect(!view.isTracking && !view.isDragging && view.isSettling)
    log += view.settle()
    #expect(log == [.began, .willSettle(1), .settled(1)])
    #expect(!view.isTracking && !view.isDragging && !view.isSettling)
  }

  @Test("CP-23: back to the top in one step, and what can be seen there")
  func jumpToTop() {
    var view = PageNavigator(PageAxis(.absolute(10)), in: Viewport(content: 47, extent: 20))
    view.jump(to: 4)
    #expect(view.visibleItems == 40..<47)
    #expect(view.jump(to: 0) == [.settled(0)])
    #expect(view.visibleItems == 0..<20)
    #expect(view.jump(to: 5) == [])
    #expect(view.jump(to: -1) == [])
  }

  @Test("CP-24: an offset that is set is exactly that")
  func exactOffset() {
    for axis in [PageAxis(.absolute(100)), PageAxis(alignment: .end)] {
      var view = PageNavigator(axis, in: Viewport(content: 1000, extent: 100))
      view.move(to: 137.5)
      #expect(view.offset == 137.5)
    }
  }

  @Test("CP-15, CP-16: whatever a finger does, one release moves by one page at most")
  func anyGesture() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    var view = view()
    var target = 0
    for _ in 0..<10_000 {
      view.begin()
      let events = view.release(
        distance: .random(in: -500...500, using: &random),
        velocity: .random(in: -1...1, using: &random))
      guard case .willSettle(let page)? = events.first else {
        Issue.record("seed \(seed)")
        return
      }
      #expect(abs(page - target) <= 1, "seed \(seed)")
      #expect((0..<10).contains(page), "seed \(seed)")
      target = page
      if Bool.random(using: &random) { view.settle() }
    }
  }
}
