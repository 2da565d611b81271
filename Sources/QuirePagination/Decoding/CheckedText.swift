extension String {
  /// Creates a string by copying bytes that are known to be valid UTF-8, as every byte of a decoded
  /// page is. They are not validated again, except on Apple's systems before version 26.
  ///
  /// `isASCII` tells whether all bytes are ASCII; nil if that is unknown.
  @inline(__always)
  package init(checkedUTF8 bytes: UnsafeBufferPointer<UInt8>, isASCII: Bool? = nil) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      // SAFETY: the caller has validated the bytes as UTF-8.
      var text = UTF8Span(unchecked: bytes.span, isKnownASCII: isASCII ?? false)
      if isASCII == nil { _ = text.checkForASCII() }
      self.init(copying: text)
    } else {
      self.init(decoding: bytes, as: UTF8.self)
    }
  }
}
