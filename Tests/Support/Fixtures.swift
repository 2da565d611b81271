import Foundation

/// Files below `Tests/Fixtures`, read as they are.
public enum Fixtures {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures")

  /// The file at `path`, such as `json-test-suite/LICENSE`.
  public static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: path)))
  }

  /// The names of the files in the folder at `path`, sorted.
  public static func names(in path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path())
      .sorted()
  }
}
