#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The time of day, which only servers' dates are compared with.
enum WallClock {
  static var secondsSince1970: Double { Date().timeIntervalSince1970 }
}
