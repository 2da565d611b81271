import QuireCore

/// Values that cannot be read, in a page that can.
extension JSONDocument {
  /// The first flawed value in `node`, nil when there is none.
  ///
  /// Half an escaped surrogate pair is no flaw in bytes that are passed on as they are: the grammar
  /// allows it (RFC 8259 section 8.2). Linear in the node, but free on a page without any flaw.
  func flaw(in node: Int, ignoringSurrogates: Bool = false) -> Int? {
    guard hasFlaws else { return nil }
    var index = node
    let end = next(after: node)
    while index < end {
      let kind = word(at: index).kind
      if kind.isFlawed, !(ignoringSurrogates && kind == .surrogateString) { return index }
      index += kind.isContainer ? 2 : 1
    }
    return nil
  }

  /// Why the flawed value at `node` cannot be read.
  func flawError(at node: Int) -> PageError {
    let word = word(at: node)
    let place = "at byte \(range(of: node).lowerBound)"
    switch word.kind {
    case .longNumber:
      return PageError(
        .limitExceeded,
        """
        The number \(place) has \(word.length) characters; raise DecodingLimits.numberLength if \
        that is right for this API.
        """)
    case .surrogateString:
      return PageError(
        .malformed, "The string \(place) escapes half a surrogate pair, which is no character.")
    default:
      return PageError(.malformed, "The string \(place) is not valid UTF-8.")
    }
  }

  /// The pointer that leads from `ancestor` down to the value at `node`; of a name, to its value.
  func pointer(to node: Int, from ancestor: Int) -> String {
    var pointer = ""
    var place = ancestor
    while place < node, let (step, child) = child(of: place, around: node) {
      pointer += PagePath.pointer(to: step)
      place = child
    }
    return pointer
  }

  /// The child of `container` that `node` is, lies in or names.
  private func child(of container: Int, around node: Int) -> (step: String, node: Int)? {
    guard word(at: container).kind == .object else {
      return elements(of: container).enumerated().first { node < next(after: $0.element) }
        .map { (String($0.offset), $0.element) }
    }
    return names(of: container).first { node < next(after: $0 + 1) }
      .map { ((try? text(at: $0)) ?? "\u{FFFD}", $0 + 1) }
  }
}
