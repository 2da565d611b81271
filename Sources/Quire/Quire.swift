#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// One import for users: the names that a program reading listings writes. Authors of sources,
// transports and decoders import the modules of those protocols.
@_exported public import HTTPTypes
@_exported public import struct Logging.Logger
@_exported public import QuireCore
@_exported public import class QuireCurl.CurlTransport
@_exported public import struct QuireDetect.Detection
@_exported public import protocol QuireHTTP.CredentialSource
@_exported public import struct QuireHTTP.BearerTokenSource
@_exported public import struct QuireHTTP.Credential
@_exported public import enum QuirePagination.LinkPolicy
@_exported public import struct QuireHTTP.PageClient
@_exported public import enum QuireHTTP.PageEvent
@_exported public import struct QuireHTTP.RequestSigner
@_exported public import struct QuireHTTP.RetryPolicy
@_exported public import struct QuireHTTP.Timeouts
@_exported public import struct QuireHTTP.TransferLimits
@_exported public import struct QuireJSON.JSONPageDecoder
@_exported public import struct QuirePagination.AnsweredPage
@_exported public import struct QuirePagination.BadItem
@_exported public import enum QuirePagination.BadItemPolicy
@_exported public import struct QuirePagination.ClosurePageDecoder
@_exported public import struct QuirePagination.DecodingLimits
@_exported public import struct QuirePagination.NextPage
@_exported public import enum QuirePagination.PageDelivery
@_exported public import protocol QuirePagination.PageDocument
@_exported public import struct QuirePagination.PagePath
@_exported public import struct QuirePagination.PageRequest
@_exported public import struct QuirePagination.Pagination
@_exported public import struct QuirePagination.RawItem
@_exported public import struct QuireXML.XMLDecodingOptions
@_exported public import struct QuireXML.XMLItem
@_exported public import struct QuireXML.XMLPageDecoder

extension PageError: LocalizedError {
  /// Same as `description`, for code that prints `localizedDescription`. English.
  public var errorDescription: String? { description }
}
