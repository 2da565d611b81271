import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireCurl

/// What removes codings slice by slice.
private protocol Inflating: ~Copyable {
  mutating func receive(_ bytes: [UInt8])
  mutating func next() throws(PageError) -> [UInt8]?
  func finish() throws(PageError)
}

extension ContentInflater: Inflating {}
extension NestedInflater: Inflating {}

@Suite("ContentInflater")
struct ContentInflaterTests {
  static let text = Array(String(repeating: "All the pages of a listing. ", count: 40).utf8)

  /// Everything the inflater makes of `wire`, given in slices of `size`.
  func inflate(
    _ wire: [UInt8], _ coding: ContentInflater.Coding = .gzip, slices size: Int = .max,
    limits: TransferLimits = .api
  ) throws(PageError) -> [UInt8] {
    try output(of: ContentInflater(coding, limits: limits), wire, slices: size)
  }

  private func output<Decoder: Inflating & ~Copyable>(
    of decoder: consuming Decoder, _ wire: [UInt8], slices size: Int
  ) throws(PageError) -> [UInt8] {
    var output: [UInt8] = []
    var rest = wire[...]
    while !rest.isEmpty {
      decoder.receive(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
      while let slice = try decoder.next() { output += slice }
    }
    try decoder.finish()
    return output
  }

  func failure(
    _ wire: [UInt8], _ coding: ContentInflater.Coding = .gzip, limits: TransferLimits = .api
  ) -> PageError.Code? {
    do throws(PageError) {
      _ = try inflate(wire, coding, limits: limits)
      return nil
    } catch {
      return error.code
    }
  }

  @Test(
    "Z5, Z7: members, padding and both kinds of deflate decode alike, however they are sliced",
    arguments: [1, 2, 3, 7, 64, 1 << 20])
  func slices(_ size: Int) throws {
    let member = Gzip.member(Self.text)
    #expect(try inflate(member, slices: size) == Self.text)
    #expect(try inflate(member + member, slices: size) == Self.text + Self.text)
    #expect(try inflate(member + [0, 0, 0], slices: size) == Self.text)
    #expect(try inflate(Gzip.member([]), slices: size) == [])
    #expect(try inflate(Gzip.zlibWrapped(Self.text), .deflate, slices: size) == Self.text)
    #expect(try inflate(Gzip.bare(Self.text), .deflate, slices: size) == Self.text)
  }

  @Test("Z3: a stream cut at any byte is truncated")
  func cut() {
    for (wire, coding) in [
      (Gzip.member(Self.text), ContentInflater.Coding.gzip),
      (Gzip.zlibWrapped(Self.text), .deflate), (Gzip.bare(Self.text), .deflate),
    ] {
      for length in 0..<wire.count {
        #expect(failure(Array(wire[..<length]), coding) == .truncated, "\(length) bytes")
      }
    }
    let member = Gzip.member(Self.text)
    #expect(failure(member + member.dropLast()) == .truncated)
    #expect(failure(member + [0x1F]) == .truncated)
  }

  @Test("Z4: no flipped bit in checksum or length goes unnoticed")
  func checksum() {
    let member = Gzip.member(Self.text)
    for place in (member.count - 8)..<member.count {
      for bit in 0..<8 {
        var damaged = member
        damaged[place] ^= 1 << bit
        #expect(failure(damaged) == .corruptEncoding)
      }
    }
  }

  @Test("Z5, Z6: bytes behind the end, and bytes that were never encoded, are corrupt")
  func garbage() {
    let member = Gzip.member(Self.text)
    #expect(failure(member + Array("x".utf8)) == .corruptEncoding)
    #expect(failure(member + [0, 0x1F, 0x8B]) == .corruptEncoding)
    #expect(failure(Gzip.zlibWrapped(Self.text) + [1], .deflate) == .corruptEncoding)
    #expect(failure(Array("[1,2,3]".utf8)) == .corruptEncoding)
    #expect(failure(Array("[1,2,3]".utf8), .deflate) != nil)
  }

  @Test("Z1: a bomb is stopped by its ratio, or by the cap, having made little more than the floor")
  func bombs() throws {
    let bomb = Gzip.bomb(8 << 20)
    #expect(failure(bomb) == .limitExceeded)
    let wide = TransferLimits(decodedBytes: 3 << 20, inflateRatio: 10_000)
    #expect(failure(bomb, limits: wide) == .limitExceeded)
    #expect(failure(Gzip.bomb(1 << 20)) == nil)

    var inflater = try ContentInflater(.gzip, limits: .api)
    inflater.receive(bomb)
    #expect(throws: PageError.self) { try drain(&inflater) }
    #expect(inflater.produced <= TransferLimits.api.inflateRatioFloor + (64 << 10))
  }

  @Test("a sitemap of numbered addresses is no bomb to a reader of feeds, and a bomb still is one")
  func numberedAddresses() throws {
    var sitemap = "<urlset>"
    for number in 100_000..<120_000 {
      sitemap += """
        <url>
          <loc>https://www.example.com/shop/products/category/item-\(number).html</loc>
          <lastmod>2024-01-01T00:00:00+00:00</lastmod>
          <changefreq>daily</changefreq>
          <priority>0.8</priority>
        </url>

        """
    }
    let text = Array(sitemap.utf8)
    let wire = Gzip.member(text)
    #expect(text.count / wire.count > 50)
    #expect(try inflate(wire, limits: .feed) == text)
    #expect(failure(Gzip.bomb(8 << 20), limits: .feed) == .limitExceeded)
  }

  @Test("a hundred thousand empty members decode to nothing")
  func emptyMembers() throws {
    let member = Gzip.member([])
    let wire = Array(repeatElement(member, count: 100_000).joined())
    #expect(try inflate(wire, slices: 64 << 10) == [])
  }

  private func drain(_ inflater: inout ContentInflater) throws {
    while try inflater.next() != nil {}
  }

  /// Everything that two layers are decoded to, given in slices of `size`.
  private func inflateNested(
    _ wire: [UInt8], slices size: Int = .max, limits: TransferLimits = .api
  ) throws(PageError) -> [UInt8] {
    let outer = try ContentInflater(.gzip, limits: limits)
    return try output(of: NestedInflater(outer, innerLimits: limits), wire, slices: size)
  }

  @Test(
    "A gzip file that is compressed once more is decoded, within the same limits",
    arguments: [1, 7, 1 << 20])
  func nested(_ size: Int) throws {
    let file = Gzip.member(Self.text)
    #expect(try inflateNested(Gzip.member(file), slices: size) == Self.text)
    #expect(try inflateNested(file, slices: size) == Self.text)
    #expect(try inflateNested(Gzip.member([]), slices: size) == [])
    #expect(try inflateNested(Gzip.member(Gzip.member(file)), slices: size) == file)
    for cut in [Array(file.dropLast()), [0x1F]] {
      let error = #expect(throws: PageError.self) {
        try inflateNested(Gzip.member(cut), slices: size)
      }
      #expect(error?.code == .truncated)
    }
    let bomb = #expect(throws: PageError.self) {
      try inflateNested(Gzip.member(Gzip.bomb(4 << 20)), slices: size)
    }
    #expect(bomb?.code == .limitExceeded)
  }
}
