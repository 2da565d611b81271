/// One entry of a document's tape: 20 bytes, in document order.
///
/// An element is followed by its namespace declarations, its attributes and its content.
struct XMLRecord: BitwiseCopyable {
  enum Kind: UInt32 {
    case element
    /// Text that stands in the source as it is.
    case text
    /// Text that had to be put together: with references, from several sections, with line ends
    /// made one character.
    case composedText
    /// Text that is white space, as it is in the source.
    case space
    /// White space that had to be put together.
    case composedSpace
    case attribute
    /// An attribute whose value is not in the source as it is.
    case composedAttribute
    /// A namespace declaration: the name is the prefix, the value the URI.
    case namespace
  }

  /// Three bits of kind, 29 bits of name.
  private var bits: UInt32
  /// The element around this record; the root element's own index for the root.
  var parent: UInt32
  /// The record behind everything in this element.
  var next: UInt32
  /// The first byte: of an element, of its `<` in the source; of the others, of their value.
  var start: UInt32
  /// Bytes: of an element, to the end of its end tag.
  var length: UInt32

  @inline(__always)
  init(_ kind: Kind, name: UInt32 = 0, parent: UInt32, next: UInt32, start: Int, length: Int) {
    bits = kind.rawValue << 29 | name
    self.parent = parent
    self.next = next
    self.start = UInt32(truncatingIfNeeded: start)
    self.length = UInt32(truncatingIfNeeded: length)
  }

  @inline(__always)
  var kind: Kind {
    get {
      // Only the tape makes records, and only from a kind.
      Kind(rawValue: bits >> 29) ?? .space
    }
    set { bits = newValue.rawValue << 29 | bits & 0x1FFF_FFFF }
  }

  @inline(__always)
  var name: Int { Int(bits & 0x1FFF_FFFF) }

  /// The largest page whose offsets fit a record.
  static let maximumOffset = Int(UInt32.max)
}
