/// A location path in an XML page: the part of XPath 1.0's abbreviated syntax that pagination needs.
///
/// `PagePath` documents the grammar. Pure: whoever has a document walks the steps.
package struct XMLPath: Hashable, Sendable {
  /// Whether the first step may match at any depth (`//`); below the context otherwise (`/`).
  package var startsAnywhere: Bool
  /// The steps down, in order; none for the context itself. Attributes and text come last only.
  package var steps: [Step]

  package enum Step: Hashable, Sendable {
    /// Child elements that pass every predicate, tested from left to right.
    case element(Name, [Predicate])
    /// The attribute of that name; for any name, all of them.
    case attribute(Name)
    /// The element's own text.
    case text
  }

  /// What a name has to be.
  package enum Name: Hashable, Sendable {
    /// `*`: anything.
    case any
    /// A local name; nil for any namespace, the empty string for none.
    case local(String, namespace: String?)
  }

  package enum Predicate: Hashable, Sendable {
    /// The nth of the elements that passed so far, below one parent, from 1.
    case position(Int)
    /// The last of them.
    case last
    /// An attribute has this value.
    case attribute(Name, value: String)
    /// A child element has this text.
    case child(Name, value: String)
    /// A child element has an attribute with this value.
    case childAttribute(Name, attribute: Name, value: String)
    /// Something is there, if only an empty element.
    case exists(Operand)
    /// Something has this text in it.
    case contains(Operand, String)
    /// The other predicate does not hold; none that counts.
    indirect case not(Predicate)
  }

  /// What a predicate looks at.
  package enum Operand: Hashable, Sendable {
    case attribute(Name)
    case child(Name)
    case childAttribute(Name, attribute: Name)
  }

  /// Whether the path looks for its place, so that it could find it inside an item: by `//`, or by an
  /// element of any name. One that names every element goes where it says.
  package var searches: Bool {
    startsAnywhere
      || steps.contains { if case .element(.any, _) = $0 { true } else { false } }
  }

  package init(startsAnywhere: Bool, steps: [Step]) {
    self.startsAnywhere = startsAnywhere
    self.steps = steps
  }
}
