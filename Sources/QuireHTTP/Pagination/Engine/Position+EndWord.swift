import QuireCore

extension Position {
  /// The cursor that leads to this position, if it is a word for an end, such as `END`, `none` or
  /// `-1`: what some servers give where no page follows.
  package var endWord: String? {
    guard case .token(let value)? = (try? Bookmark(self))?.target else { return nil }
    let text = value.plainText
    return text.wholeMatch(of: Self.endWords) == nil ? nil : text
  }

  private static var endWords: Regex<Substring> {
    #/end|eof|null|nil|none|undefined|done|last|stop|finished|false|n/a|-1|0/#.ignoresCase()
  }
}
