import QuireCore

/// Finding the items.
extension JSONDocument {
  /// The arrays that hold the page's items, in order; none for an empty page. With another `kind`,
  /// the objects.
  ///
  /// Throws `shape` when they are missing, or something else stands in their place.
  func lists(
    of selector: ItemSelector, kind wanted: JSONWord.Kind = .array
  ) throws -> [Int] {
    var arrays: [Int] = []
    var hasNull = false
    var misfit: PageError?
    for path in selector.paths {
      switch try find(path) {
      case .node(let node):
        switch word(at: node).kind {
        case wanted: arrays.append(node)
        case .null: hasNull = true
        default: misfit = misfit ?? self.misfit(node, at: path, wanted: wanted)
        }
      case .absent(let parent):
        // Only an object leaves a member out; anything else is another page than was described.
        let kind = word(at: parent).kind
        if selector.absentMeansEmpty, kind != .object, kind != .null {
          misfit = misfit ?? missing(selector)
        }
      }
    }
    if selector.takesFirst {
      if let full = arrays.first(where: { word(at: $0).length > 0 }) { return [full] }
      if !arrays.isEmpty { return [] }
    }
    if let misfit { throw misfit }
    guard !arrays.isEmpty || hasNull || selector.absentMeansEmpty else { throw missing(selector) }
    return arrays
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
