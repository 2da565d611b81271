import Foundation
import QuireCore
import QuireTesting
import Testing

@testable import QuireServing

@Suite struct PageTokenTests {
  private let position = Position(["2026-11-22T10:00:00Z", 9_007_199_254_740_993], itemOffset: 3)

  private func keys() throws -> PageToken.Keys { PageToken.Keys(try .random()) }

  /// Why a token is refused; nil if it is not.
  private func refusal(
    _ text: String, _ query: String, _ keys: PageToken.Keys, now: Date = Date()
  ) -> PageToken.Refusal? {
    do throws(PageToken.Refusal) {
      _ = try PageToken(text).position(for: query, with: keys, now: now)
      return nil
    } catch {
      return error
    }
  }

  @Test("17-Token: what is sealed comes back without loss, and two tokens of one position differ")
  func roundTrip() throws {
    let keys = try keys()
    let positions = [
      position, .start, Position(.null), "text ÿ \u{0}", Position(.number("1e400")),
      Position(["a": ["b": .null]], itemOffset: 1),
    ]
    for position in positions {
      let token = try PageToken(sealing: position, for: "q", with: keys)
      #expect(try PageToken(token.text).position(for: "q", with: keys) == position)
      #expect(token != (try PageToken(sealing: position, for: "q", with: keys)))
      #expect(
        token.text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
      #expect(!token.text.contains("text"))
    }
  }

  @Test("17-Token: a token is good for its query, its time and its keys, and for nothing else")
  func bounds() throws {
    let (old, new) = (try PageToken.Key.random(), try PageToken.Key.random())
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    let token = try PageToken(
      sealing: position, for: "q", with: .init(old), lifetime: .seconds(60), now: now)
    func why(_ query: String, _ keys: PageToken.Keys, after time: Double) -> PageToken.Refusal? {
      refusal(token.text, query, keys, now: now.addingTimeInterval(time))
    }
    #expect(why("q", .init(old), after: 59) == nil)
    #expect(why("q", .init(old), after: 60) == .expired)
    #expect(why("Q", .init(old), after: 0) == .notGenuine)
    #expect(why("", .init(old), after: 0) == .notGenuine)
    #expect(why("q", .init(new), after: 0) == .unknownKey)
    #expect(why("q", .init(new, previous: [old]), after: 0) == nil)
  }

  @Test("17-Token: of 1,000,000 tampered, foreign, expired or made-up tokens none is accepted")
  func forged() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let (keys, others) = (try keys(), try keys())
    let now = Date()
    let good = try (0..<50).map {
      try PageToken(sealing: Position(integerLiteral: $0), for: "q", with: keys).text
    }
    let foreign = try (0..<50).map {
      try PageToken(sealing: Position(integerLiteral: $0), for: "q", with: others).text
    }
    let alphabet = Array(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ %".utf8)
    var reasons: [PageToken.Refusal: Int] = [:]
    for round in 0..<1_000_000 {
      var text = Array(good[round % good.count].utf8)
      var (query, time) = ("q", now)
      switch round % 5 {
      case 0:
        let index = Int.random(in: text.indices, using: &random)
        let other = alphabet.randomElement(using: &random) ?? 0
        if text[index] == other { text[index] = 0x21 } else { text[index] = other }
      case 1:
        let cut = Int.random(in: 0..<text.count, using: &random)
        text = Bool.random(using: &random) ? Array(text[..<cut]) : text + text[cut...]
      case 2: query = "q\(round)"
      case 3: time = now.addingTimeInterval(86_400 + Double(round))
      default: text = Array(foreign[round % foreign.count].utf8)
      }
      guard let reason = refusal(String(decoding: text, as: UTF8.self), query, keys, now: time)
      else {
        Issue.record("seed \(seed), round \(round): accepted")
        return
      }
      reasons[reason, default: 0] += 1
    }
    #expect(Set(reasons.keys) == [.malformed, .unknownKey, .notGenuine, .expired])
  }

  @Test(
    "17-Token: secrets that are too short and positions that are too large are refused with a reason"
  )
  func arguments() throws {
    #expect(throws: PageError.self) { try PageToken.Key(secret: Array(repeating: 1, count: 31)) }
    let large = Position(.string(String(repeating: "x", count: 5_000)))
    #expect(throws: PageError.self) { try PageToken(sealing: large, for: "q", with: keys()) }
  }

  @Test("17-Token, H-8: keys that are printed or dumped show nothing of their secrets")
  func printed() throws {
    var (one, other) = ("", "")
    dump(try keys(), to: &one)
    dump(try keys(), to: &other)
    #expect(one == other)
    #expect(try "\(keys())" == "\(keys())")
  }

  @Test("17-Token: the same secret makes the same key everywhere")
  func sharedSecret() throws {
    let secret = [UInt8](0..<40)
    let token = try PageToken(sealing: position, for: "q", with: .init(.init(secret: secret)))
    #expect(try token.position(for: "q", with: .init(.init(secret: secret))) == position)
  }
}
