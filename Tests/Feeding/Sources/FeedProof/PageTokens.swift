import Foundation
import QuireCore
import QuireServing

/// A million sealed positions that were changed, come from elsewhere or are too old.
enum PageTokens {
  static func measure() throws -> [Figure] {
    let (keys, others) = (PageToken.Keys(try .random()), PageToken.Keys(try .random()))
    let now = Date()
    let query = "/entries?tag=swift"
    let seed = UInt64.random(in: 0...UInt64.max)
    var chance = Chance(state: seed)
    let position = Position(integerLiteral: 42)
    let genuine = try (0..<1_000).map { _ in
      try PageToken(sealing: position, for: query, with: keys, now: now)
    }
    let foreign = try (0..<1_000).map { _ in
      try PageToken(sealing: position, for: query, with: others, now: now)
    }
    var (accepted, mixed) = (0, 0)
    let count = 1_000_000
    let time = Measurement.wall {
      for number in 0..<count {
        let token = genuine[number % 1_000]
        let isOpen =
          switch number % 4 {
          case 0: opens(changed(token, &chance), query, keys, now)
          case 1: opens(foreign[number % 1_000], query, keys, now)
          case 2: opens(token, query + String(number % 7), keys, now)
          default: opens(token, query, keys, now.addingTimeInterval(86_400 + Double(number)))
          }
        accepted += isOpen ? 1 : 0
      }
      for token in genuine where !opens(token, query, keys, now) { mixed += 1 }
    }
    return [
      Figure(
        "10⁶ tampered, foreign or expired page tokens: accepted", Double(accepted), "", .atMost(0)),
      Figure("  genuine ones that are refused (seed \(seed))", Double(mixed), "", .atMost(0)),
      Figure("  tokens opened or refused", Double(count) / time / 1_000, "k/s"),
    ]
  }

  private static func opens(
    _ token: PageToken, _ query: String, _ keys: PageToken.Keys, _ now: Date
  ) -> Bool {
    (try? token.position(for: query, with: keys, now: now)) != nil
  }

  /// The token with some of its characters changed, cut, doubled or put elsewhere.
  private static func changed(_ token: PageToken, _ chance: inout Chance) -> PageToken {
    let alphabet = Array(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ ".utf8)
    var text = Array(token.text.utf8)
    func place() -> Int { Int(chance.next() % UInt64(text.count)) }
    repeat {
      switch chance.next() % 8 {
      case 0: text.removeLast(min(text.count - 1, 1 + Int(chance.next() % 20)))
      case 1: text.append(alphabet[Int(chance.next() % 64)])
      case 2: text.swapAt(place(), place())
      case 3: text.insert(contentsOf: text.prefix(4), at: place())
      default: text[place()] = alphabet[Int(chance.next() % UInt64(alphabet.count))]
      }
    } while text.elementsEqual(token.text.utf8)
    return PageToken(String(decoding: text, as: UTF8.self))
  }
}
