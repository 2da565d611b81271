import HTTPTypes
import QuireCore
import QuireHTTP

/// Removes a body's content coding, slice by slice, and holds it to the limits.
enum BodyDecoder: ~Copyable {
  /// The head has not come yet.
  case undecided
  case plain(slice: [UInt8], total: Int, limit: Int)
  /// `mayBeEmpty` tells that the framing itself proves that there is nothing to inflate.
  case inflating(ContentInflater, mayBeEmpty: Bool)
  case failed(PageError)

  init(_ head: ResponseHead, limits: TransferLimits) {
    do throws(PageError) {
      switch try ContentCoding(head.response.headerFields) {
      case .identity: self = .plain(slice: [], total: 0, limit: limits.decodedBytes)
      case .gzip:
        self = .inflating(
          try ContentInflater(.gzip, limits: limits), mayBeEmpty: head.framing == .explicit)
      case .deflate:
        self = .inflating(
          try ContentInflater(.deflate, limits: limits), mayBeEmpty: head.framing == .explicit)
      }
    } catch {
      self = head.canHaveBody ? .failed(error) : .plain(slice: [], total: 0, limit: 0)
    }
  }

  /// Takes wire bytes; all earlier ones must have been consumed.
  mutating func receive(_ bytes: [UInt8]) {
    switch consume self {
    case .undecided: preconditionFailure("BodyDecoder: bytes before the head")
    case .plain(_, let total, let limit):
      self = .plain(slice: bytes, total: total + bytes.count, limit: limit)
    case .inflating(var inflater, let mayBeEmpty):
      inflater.receive(bytes)
      self = .inflating(inflater, mayBeEmpty: mayBeEmpty)
    case .failed(let error): self = .failed(error)
    }
  }

  /// The next decoded slice; nil when more wire bytes are needed.
  mutating func next() throws(PageError) -> [UInt8]? {
    switch consume self {
    case .undecided: preconditionFailure("BodyDecoder: a slice before the head")
    case .plain(let slice, let total, let limit):
      guard total <= limit else {
        let error = ContentInflater.tooMuch(limit)
        self = .failed(error)
        throw error
      }
      self = .plain(slice: [], total: total, limit: limit)
      return slice.isEmpty ? nil : slice
    case .inflating(var inflater, let mayBeEmpty):
      do throws(PageError) {
        let slice = try inflater.next()
        self = .inflating(inflater, mayBeEmpty: mayBeEmpty)
        return slice
      } catch {
        self = .failed(error)
        throw error
      }
    case .failed(let error):
      self = .failed(error)
      throw error
    }
  }

  /// Checks that nothing is missing, once the wire has ended.
  mutating func finish() throws(PageError) {
    switch consume self {
    case .undecided: preconditionFailure("BodyDecoder: the end before the head")
    case .plain(let slice, let total, let limit):
      self = .plain(slice: slice, total: total, limit: limit)
    case .inflating(let inflater, let mayBeEmpty):
      if inflater.isUntouched, mayBeEmpty {
        self = .inflating(inflater, mayBeEmpty: mayBeEmpty)
        return
      }
      do throws(PageError) {
        try inflater.finish()
        self = .inflating(inflater, mayBeEmpty: mayBeEmpty)
      } catch {
        self = .failed(error)
        throw error
      }
    case .failed(let error):
      self = .failed(error)
      throw error
    }
  }
}
