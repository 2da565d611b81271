import QuireHTTP
import QuireCurl
import ArgumentParser
import Foundation
import Quire
import QuireCore
import QuirePagination

/// `--rate N/TIME[,burst=N]`: the user's own limit of requests.
enum RateOption {
  static func rate(_ text: String, for option: String = "--rate") throws -> RequestBudget.Rate {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let sides = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
    guard sides.count == 2, let count = Double(sides[0]), count > 0, count.isFinite,
      let period = period(sides[1]), parts.count <= 2
    else { throw wrong(text, option) }
    var rate = RequestBudget.Rate(count, per: period)
    if let more = parts.dropFirst().first {
      guard more.hasPrefix("burst="), let burst = Double(more.dropFirst(6)), burst >= 1,
        burst.isFinite
      else { throw wrong(text, option) }
      rate.burst = burst
    }
    return rate
  }

  /// Parses a time such as `s`, `10s`, `m` or `hour`.
  private static func period(_ text: Substring) -> Duration? {
    let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    let unit = text.dropFirst(digits.count)
    let name = unit.isEmpty && !digits.isEmpty ? "s" : unit
    guard let seconds = DurationOption.units[name] else { return nil }
    let number = digits.isEmpty ? 1 : Double(digits)
    return number.flatMap { $0 > 0 && $0.isFinite ? .wait(seconds: $0 * Double(seconds)) : nil }
  }

  private static func wrong(_ text: String, _ option: String) -> ValidationError {
    ValidationError(
      "\(option) \(text): expected a number of requests in a time, such as 5/s, 100/m, 5000/h, 10/30s or "
        + "100/m,burst=20.")
  }
}

/// `--addresses` and `--proxy`: where requests may go, and by which proxy.
enum RouteOption {
  static func addresses(_ text: String, for option: String = "--addresses") throws -> AddressPolicy
  {
    switch text {
    case "standard": return .standard
    case "public": return .publicOnly
    case "any": return .unrestricted
    default:
      let networks = text.dropFirst("allow:".count).split(separator: ",")
      guard text.hasPrefix("allow:"), !networks.isEmpty else {
        throw ValidationError(
          "\(option) \(text): expected standard, public, any or allow:NETWORK[,NETWORK], such as "
            + "allow:10.0.0.0/8.")
      }
      do {
        return try AddressPolicy.standard.allowing(networks.map(String.init))
      } catch {
        throw ValidationError("\(option): \(error.message)")
      }
    }
  }

  /// Parses `env` or the address of a proxy. No message repeats the value, which may hold a
  /// password.
  static func proxy(_ text: String, for option: String = "--proxy") throws -> Proxy {
    do {
      if text == "env" { return try Proxy.environment() }
      return try Proxy(try HeaderOption.value(text, for: option))
    } catch let error as PageError {
      throw ValidationError("\(option): \(error.message)")
    }
  }
}
