import Foundation
import QuireCore
import QuireTesting
import Testing

@Suite struct PortabilityTests {
  /// The lines of all Swift files below `Sources`, with their files.
  private func lines() throws -> [(file: String, line: Substring)] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources")
    let files = try #require(
      FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
    return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.flatMap {
      file in
      try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        .map { (file.lastPathComponent, $0) }
    }
  }

  @Test("X-15: no source imports a user interface, and nothing public is Sendable by promise only")
  func importsNoInterface() throws {
    let lines = try lines()
    #expect(lines.count > 1000)
    for (file, line) in lines {
      for name in ["UIKit", "AppKit", "SwiftUI"] {
        #expect(!line.hasSuffix("import \(name)"), "\(file): \(line)")
      }
      if line.hasPrefix("public ") || line.hasPrefix("  public ") {
        #expect(!line.contains("@unchecked"), "\(file): \(line)")
      }
    }
  }

  @Test("X-15: the manifest asks for language mode 6, and for warnings to be errors")
  func manifest() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let manifest = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
    #expect(manifest.hasPrefix("// swift-tools-version: 6"))
    #expect(manifest.contains(".treatAllWarnings(as: .error)"))
    #expect(!manifest.contains("swiftLanguageMode"))
  }

  @Test("X-12: a loop that never pauses still loads ahead, at the 7th of 10 items")
  func loadsAheadWithoutPause() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    let paginator = Paginator(Cursor(source))
    var consumed = 0
    var firstLoad: Int?
    for try await _ in paginator.items {
      consumed += 1
      // It is decided in the call that hands the item out; when the page comes does not matter.
      if firstLoad == nil, paginator.snapshot.state != .content { firstLoad = consumed }
    }
    #expect(consumed == 20)
    #expect(firstLoad == 7)
  }
}
