@_exported public import HTTPTypes
@_exported public import QuireCore
@_exported public import QuireCurl
@_exported public import QuireDetect
@_exported public import QuireHTTP
@_exported public import QuireJSON
@_exported public import QuirePagination
@_exported public import QuireXML
@_exported public import struct Logging.Logger

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// One import for users: the face shows what the rooms behind it are called.

extension PageError: LocalizedError {
  /// The same line as `description`, for code that prints `localizedDescription`. English.
  public var errorDescription: String? { description }
}
