/// Where listings of listings go on that were begun, and the parents behind them: `{"open": [{"parent": …,
/// "child": …}], "parents": …}`.
struct FanOutPlaces {
  var open: [(parent: Position, child: Position?)]
  /// Where the parents go on that are not begun; nil behind the last one.
  var behind: Position?

  init(open: [(Position, Position?)], behind: Position?) {
    self.open = open
    self.behind = behind
  }

  init(_ position: Position) throws {
    guard let value = position.value else {
      (open, behind) = ([], .start)
      return
    }
    guard case .array(let children)? = value["open"] else {
      throw PageError(
        .positionMismatch,
        "The position is not one of listings of a listing that are read at once: it was made by another "
          + "one.", attempts: 0)
    }
    open = children.enumerated().map { index, child in
      (
        Position(json: child["parent"] ?? .null),
        .place(
          child["child"].map(Position.init(json:)), items: index == 0 ? position.itemOffset : 0)
      )
    }
    behind = value["parents"].map(Position.init(json:))
  }

  /// Nil where nothing is left.
  var position: Position? { open.isEmpty && behind == nil ? nil : written }

  /// The listing of one parent, and the parents behind it.
  static func position(_ parent: Position, _ child: Position?, behind: Position?) -> Position {
    FanOutPlaces(open: [(parent, child)], behind: behind).written
  }

  private var written: Position {
    let children = open.map { place in
      JSONValue.object(
        [.init("parent", place.parent.json)]
          + (place.child.map { [.init("child", $0.json)] } ?? []))
    }
    return Position(
      .object(
        [.init("open", .array(children))]
          + (behind.map { [.init("parents", $0.json)] } ?? [])))
  }
}
