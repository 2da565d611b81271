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
    let handedOut = Recorder<Int>()
    let requestedAt = Recorder<Int>()
    let cursor = Cursor<Int>.numbered { number in
      requestedAt.note(handedOut.count)
      return NumberedPage(Array(repeating: number, count: 10), isLast: number == 2)
    }.observed { reading in
      if case .started(let position, _) = reading, position.value != nil {
        requestedAt.note(handedOut.count)
      }
    }
    for try await item in Paginator(cursor).items { handedOut.note(item) }
    #expect(handedOut.count == 20)
    // The 7th item is asked for when six are handed out; the load runs beside the loop from there.
    let second = try #require(requestedAt.values.last)
    #expect((6...10).contains(second))
  }
}
