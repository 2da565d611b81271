import ArgumentParser
import Foundation

/// Files that are named on the command line.
enum InputFile {
  /// The bytes of the file, or a usage error that says which option named it.
  static func read(_ path: String, for option: String) throws -> Data {
    do {
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw ValidationError("\(option): cannot read the file \(path).")
    }
  }
}
