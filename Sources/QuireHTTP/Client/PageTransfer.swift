import QuireCore

/// An answer whose body is being decoded.
struct PageTransfer<Item: Sendable> {
  let response: TransportResponse
  let hop: RedirectMachine.Hop
  var session: any PageDecoding<Item>
  let isSelfDelimiting: Bool
  /// What decodes fields as it decodes items.
  let fieldDecoder: (any FieldDecoder)?
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
