import QuireCore

/// Finding the items.
extension JSONDocument {
  /// The arrays that hold the page's items, in order; none for an empty page. With another `kind`,
  /// the objects. Where one item may stand for a list of one, also what is no array.
  ///
  /// Throws `shape` when they are missing or null and not optional, or something else stands in their
  /// place.
  func lists(
    of selector: ItemSelector, kind wanted: JSONWord.Kind = .array
  ) throws -> [Int] {
    var arrays: [Int] = []
    var nullPath: PagePath?
    var misfit: PageError?
    for path in selector.paths {
      switch try find(path) {
      case .node(let node):
        switch word(at: node).kind {
        case wanted: arrays.append(node)
        case .null: nullPath = nullPath ?? path
        case _ where wanted == .array && selector.admitsOne: arrays.append(node)
        default: misfit = misfit ?? self.misfit(node, at: path, wanted: wanted)
        }
      case .absent(let parent):
        if selector.absentMeansEmpty, !canLackItems(parent, path) {
          misfit = misfit ?? missing(selector)
        }
      }
    }
    if selector.takesFirst {
      if let full = arrays.first(where: { isFilled($0, wanted) }) { return [full] }
      if !arrays.isEmpty { return [] }
    }
    if let misfit { throw misfit }
    guard !arrays.isEmpty || selector.absentMeansEmpty else {
      throw nullPath.map { null(at: $0, selector) } ?? missing(selector)
    }
    return arrays
  }

  /// Whether a node may be where an empty list was left out: an object without a member, or a list too
  /// short for its place. Anything else is another page than was described.
  private func canLackItems(_ node: Int, _ path: PagePath) -> Bool {
    switch word(at: node).kind {
    case .object, .null: true
    case .array:
      if case .name(let name)? = path.steps.last {
        Int(name) != nil && word(at: node).length > 0
      } else {
        false
      }
    default: false
    }
  }

  /// Whether a list has elements; one item in place of a list is there.
  private func isFilled(_ node: Int, _ wanted: JSONWord.Kind) -> Bool {
    word(at: node).kind != wanted || word(at: node).length > 0
  }

  /// A hash of everything the server wrote between the brackets of the arrays.
  func fingerprint(of lists: [Int]) -> Int {
    var digest = ContentDigest()
    bytes.withUnsafeBytes { bytes in
      for list in lists { digest.add(UnsafeRawBufferPointer(rebasing: bytes[range(of: list)])) }
    }
    return digest.value
  }

  private func misfit(_ node: Int, at path: PagePath, wanted: JSONWord.Kind) -> PageError {
    let found =
      switch word(at: node).kind {
      case .object: "an object"
      case .array: "an array"
      case .true, .false: "a truth value"
      case .number, .longNumber: "a number"
      default: "a string"
      }
    return PageError(
      .shape,
      "The items should be the \(wanted == .array ? "array" : "object") at \(path.place), but "
        + "\(found) is there. \(wanted == .array ? advice() : "Check the description's \"items\".")"
    )
  }

  func missing(_ selector: ItemSelector) -> PageError {
    let paths = selector.paths.map(\.place).joined(separator: " or ")
    return PageError(
      .shape,
      """
      The page has no items at \(paths). \(advice()) For a server that leaves an empty list out, \
      use .items(at: .optional("\(selector.paths.first?.text ?? "")")).
      """)
  }

  /// A null where the list should be: of a server that writes an empty list so, or of one that failed.
  func null(at path: PagePath, _ selector: ItemSelector) -> PageError {
    PageError(
      .shape,
      """
      The page has null in place of the items at \(path.place): that may be an empty list, or data \
      that could not be had. For a server that writes an empty list so, use \
      .items(at: .optional("\(selector.paths.first?.text ?? "")")).
      """)
  }

  // MARK: Advice

  /// Names the arrays near the root, which the items may be.
  private func advice() -> String {
    if word(at: 0).kind == .array { return "The page itself is an array: use .items(at: \"\")." }
    let paths = arraysNearRoot()
    guard !paths.isEmpty else { return "There is no array near the root." }
    return "Found arrays at \(PagePath.advice(paths))"
  }

  /// The pointers of at most five arrays, at most three names deep, nearest first.
  private func arraysNearRoot() -> [String] {
    var result: [String] = []
    var level = [(node: 0, pointer: "")]
    var budget = 1_000
    for _ in 0..<3 {
      var below: [(node: Int, pointer: String)] = []
      for (object, pointer) in level where word(at: object).kind == .object {
        for name in names(of: object).prefix(budget) {
          budget -= 1
          guard word(at: name + 1).kind.isContainer, let text = try? text(at: name) else {
            continue
          }
          below.append((name + 1, pointer + PagePath.pointer(to: String(text.prefix(100)))))
        }
      }
      result += below.filter { word(at: $0.node).kind == .array }.map(\.pointer)
      level = below
    }
    return Array(result.prefix(5))
  }
}
