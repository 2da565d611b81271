import QuireJSON
package import QuirePagination

extension RawItem {
  /// The members of the item, in order, each as an item of its own; nil where it is no object. Names that
  /// come twice come twice here.
  package func columns() throws -> [(name: String, value: RawItem)]? {
    if let members = try members() { return members }
    guard bytes.first == UInt8(ascii: "{") else { return nil }
    return try RawItem(Array(bytes)).members()
  }

  /// Whether the item is an object or an array.
  package var isContainer: Bool {
    bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "[")
  }
}
