import Quire

/// Reads a listing without HTTP: any closure that returns the page at a position can be its source.
@main
struct ClosureSource {
  static func main() async throws {
    let planets = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"]

    let cursor = Cursor<String> { position in
      // Nil is the start of the listing. Any other position is the `next` of an earlier page.
      let start = position?.value?.integer ?? 0
      let end = min(start + 3, planets.count)
      // A page without `next` is the last one.
      return Page(
        Array(planets[start..<end]),
        next: end < planets.count ? Position(.number("\(end)")) : nil,
        total: Total(planets.count))
    }

    // All that works for listings over HTTP works here: transforms, limits, look-ahead, resuming.
    let long = cursor.filter { $0.count > 5 }.map { $0.uppercased() }
    for try await page in long {
      print("page \(page.index): \(page.items.joined(separator: ", "))")
    }
  }
}
