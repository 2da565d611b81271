public import QuireCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension PageError: LocalizedError {
  /// The same line as `description`, for code that prints `localizedDescription`. English.
  public var errorDescription: String? { description }
}
