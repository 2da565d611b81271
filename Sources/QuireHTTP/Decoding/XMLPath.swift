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
  }

  package init(startsAnywhere: Bool, steps: [Step]) {
    self.startsAnywhere = startsAnywhere
    self.steps = steps
  }
}
