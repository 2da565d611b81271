extension String {
  /// The text of bytes that were checked to be UTF-8, as each byte of a page was: they are copied, and not checked
  /// again.
  ///
  /// `isASCII` is whether all of them are ASCII, if that is known.
  @inline(__always)
  package init(checkedUTF8 bytes: UnsafeBufferPointer<UInt8>, isASCII: Bool? = nil) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      // SAFETY: unchecked is only what was checked before.
      var text = UTF8Span(unchecked: bytes.span, isKnownASCII: isASCII ?? false)
      if isASCII == nil { _ = text.checkForASCII() }
      self.init(copying: text)
    } else {
      self.init(decoding: bytes, as: UTF8.self)
    }
  }
}
