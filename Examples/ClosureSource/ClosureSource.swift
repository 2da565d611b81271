import Quire

/// A listing without HTTP: anything that can fetch a page for a position is a source.
@main
struct ClosureSource {
  static func main() async throws {
    let planets = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"]

    let cursor = Cursor<String> { position in
      let start = position?.value?.integer ?? 0
      let end = min(start + 3, planets.count)
      return Page(
        Array(planets[start..<end]),
        next: end < planets.count ? Position(.number("\(end)")) : nil,
        total: Total(planets.count))
    }

    // Everything that works for HTTP works here: transforms, limits, look-ahead, resuming.
    let long = cursor.filter { $0.count > 5 }.map { $0.uppercased() }
    for try await page in long {
      print("page \(page.index): \(page.items.joined(separator: ", "))")
    }
  }
}
