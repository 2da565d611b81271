import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

/// Removes a body's content coding, slice by slice, and enforces the limits.
///
/// A file that is gzip itself, such as `sitemap.xml.gz`, comes without a declared coding, and is
/// inflated all the same, and so is one within a declared coding: no page starts with gzip's two magic
/// bytes (RFC 1952 §2.3.1).
enum BodyDecoder: ~Copyable {
  /// The head has not come yet.
  case undecided
  /// No coding is declared, and too few bytes have come to tell whether the content is a gzip file.
  case sniffing([UInt8], limits: TransferLimits)
  case plain(slice: [UInt8], total: Int, limit: Int)
  case inflating(NestedInflater)
  case failed(PageError)

  init(_ head: ResponseHead, limits: TransferLimits) {
    do throws(PageError) {
      guard let coding = try ContentInflater.Coding(head.response.headerFields) else {
        self = .sniffing([], limits: limits)
        return
      }
      let inflater = try ContentInflater(
        coding, limits: limits, mayBeEmpty: head.framing == .explicit)
      self = .inflating(NestedInflater(inflater, innerLimits: limits))
    } catch {
      self = head.canHaveBody ? .failed(error) : .plain(slice: [], total: 0, limit: 0)
    }
  }

  /// Takes wire bytes; all earlier ones must have been consumed.
  mutating func receive(_ bytes: [UInt8]) {
    switch consume self {
    case .undecided: preconditionFailure("BodyDecoder: bytes before the head")
    case .sniffing(let earlier, let limits):
      self = Self.sniffed(from: earlier.isEmpty ? bytes : earlier + bytes, limits)
    case .plain(_, let total, let limit):
      self = .plain(slice: bytes, total: total + bytes.count, limit: limit)
    case .inflating(var inflater):
      inflater.receive(bytes)
      self = .inflating(inflater)
    case .failed(let error): self = .failed(error)
    }
  }

  static let magic: [UInt8] = [0x1F, 0x8B]

  /// Returns the decoder for a body that begins with these bytes.
  private static func sniffed(from bytes: [UInt8], _ limits: TransferLimits) -> BodyDecoder {
    guard magic.starts(with: bytes.prefix(magic.count)) else {
      return .plain(slice: bytes, total: bytes.count, limit: limits.decodedBytes)
    }
    guard bytes.count >= magic.count else { return .sniffing(bytes, limits: limits) }
    do throws(PageError) {
      var inflater = try ContentInflater(.gzip, limits: limits)
      inflater.receive(bytes)
      return .inflating(NestedInflater(inflater, innerLimits: nil))
    } catch {
      return .failed(error)
    }
  }

  /// Returns the next decoded slice; nil if more wire bytes are needed.
  mutating func next() throws(PageError) -> [UInt8]? {
    switch consume self {
    case .undecided: preconditionFailure("BodyDecoder: a slice before the head")
    case .sniffing(let bytes, let limits):
      self = .sniffing(bytes, limits: limits)
      return nil
    case .plain(let slice, let total, let limit):
      guard total <= limit else {
        let error = ContentInflater.tooMuch(limit)
        self = .failed(error)
        throw error
      }
      self = .plain(slice: [], total: total, limit: limit)
      return slice.isEmpty ? nil : slice
    case .inflating(var inflater):
      do throws(PageError) {
        let slice = try inflater.next()
        self = .inflating(inflater)
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

  /// Whether all slices of what was received were taken; false if that is not known.
  var isDrained: Bool {
    switch self {
    case .plain(let slice, _, _): slice.isEmpty
    case .inflating(let inflater): inflater.isDrained
    case .undecided: false
    case .sniffing: false
    case .failed: false
    }
  }

  /// Checks that nothing is missing, once the transfer has ended.
  func finish() throws(PageError) {
    switch self {
    case .undecided: preconditionFailure("BodyDecoder: the end before the head")
    case .sniffing(let bytes, _):
      guard bytes.isEmpty else { throw Self.cutMagic }
    case .plain: break
    case .inflating(let inflater): try inflater.finish()
    case .failed(let error): throw error
    }
  }

  static var cutMagic: PageError {
    PageError(.truncated, "The gzip file ends behind its first byte; ask again.")
  }
}

extension ContentInflater.Coding {
  /// Values that servers write here by mistake, most of them character encodings. They name no
  /// coding: the body is taken as it is, and its format shows whether that is right.
  private static let mistaken: Set<String> = [
    "7bit", "8bit", "ascii", "binary", "identity", "none", "us-ascii", "utf-8", "utf8",
  ]

  /// Creates the coding that the head declares (RFC 9110 §8.4); nil if it declares none. Throws for
  /// more than one coding: nested ones only ever come from attackers and misconfigured proxies.
  init?(_ fields: HTTPFields) throws(PageError) {
    let names = fields[values: .contentEncoding].flatMap { $0.split(separator: ",") }
      .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      .filter { !$0.isEmpty && !Self.mistaken.contains($0) }
    switch names {
    case []: return nil
    case ["gzip"], ["x-gzip"]: self = .gzip
    case ["deflate"]: self = .deflate
    default:
      throw PageError(
        .corruptEncoding,
        "The body is encoded as \(ServerText(names.joined(separator: ", "), limit: 80)); only one gzip or "
          + "deflate is understood.")
    }
  }
}
