import Foundation
@testable import QuirePagination
import Testing

@Suite("The reference of descriptions")
struct DescriptionReferenceTests {
  @Test("Each table of the reference is the one that the block's form prints")
  func tables() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Sources/Quire/Quire.docc/DescriptionReference.md")
    let guide = try String(contentsOf: file, encoding: .utf8)
    for table in DescriptionReference.tables {
      #expect(guide.contains(table.text), "\(table.name) should be:\n\(table.text)")
    }
  }
}
