import QuireCore

/// An answer whose body is being decoded.
struct PageTransfer<Item: Sendable> {
  let response: TransportResponse
  let hop: RedirectMachine.Hop
  var session: any PageDecoding<Item>
  let decoder: any PageDecoder<Item>
  let note: PageFormatNote?
  /// What decodes fields as it decodes items.
  var fieldDecoder: (any FieldDecoder)? { decoder as? any FieldDecoder }
  /// The first 64 KiB of the body, in case it explains a failure.
  var beginning: [[UInt8]] = []
  /// Bytes of the body so far.
  var received = 0
  /// Items so far, those set aside included.
  var itemCount = 0

  /// What a request leads to.
  enum Opening {
    /// A body to be decoded.
    case transfer(PageTransfer)
    /// A page without a body, or the news that the listing ended before it.
    case answer(Page<Item>?)
  }
}
