/// Moving over the tape. A node is the tape index of a value; 0 is the whole page.
extension JSONDocument {
  func word(at node: Int) -> JSONWord { JSONWord(bits: tape[node]) }

  /// The node behind `node` and everything in it.
  func next(after node: Int) -> Int {
    word(at: node).kind.isContainer ? Int(tape[node + 1] >> 32) : node + 1
  }

  /// Where the value stands in the page, brackets and quotes included.
  package func range(of node: Int) -> Range<Int> {
    let word = word(at: node)
    if word.kind.isContainer { return word.offset..<Int(tape[node + 1] & 0xFFFF_FFFF) }
    if word.kind.isString { return word.offset - 1..<word.offset + word.length + 1 }
    return word.content
  }

  /// The element at `index`, found by walking over those before it; nil beyond the end.
  func element(of array: Int, at index: Int) -> Int? {
    guard word(at: array).kind == .array, index < word(at: array).length else { return nil }
    var node = array + 2
    for _ in 0..<index { node = next(after: node) }
    return node
  }

  /// The elements of an array, in order; of anything else none.
  func elements(of array: Int) -> Children { children(of: array, .array, stride: .element) }

  /// The names of an object, in order, of anything else none; the value of the name at `n` is the node
  /// `n + 1`.
  func names(of object: Int) -> Children { children(of: object, .object, stride: .member) }

  /// A scalar's length counts its bytes: taken for a number of children, it would lead off the tape.
  private func children(
    of node: Int, _ kind: JSONWord.Kind, stride: Children.Stride
  ) -> Children {
    let word = word(at: node)
    return Children(
      document: self, node: node + 2, left: word.kind == kind ? word.length : 0, stride: stride)
  }

  struct Children: Sequence, IteratorProtocol {
    enum Stride: Int { case element = 0, member = 1 }

    let document: JSONDocument
    var node: Int
    var left: Int
    let stride: Stride

    var underestimatedCount: Int { left }

    mutating func next() -> Int? {
      guard left > 0 else { return nil }
      left -= 1
      defer { node = document.next(after: node + stride.rawValue) }
      return node
    }
  }
}
