import ArgumentParser
import Quire
import QuireCore
import QuirePagination

/// An error in a sync file: its place and its reason.
struct SyncFileError: Error, CustomStringConvertible {
  var description: String
  /// The member names that lead to the place, separated by dots.
  let path: String
  /// Whether the description already names the line.
  var isLocated = false

  /// Creates an error for a place, or for a member there.
  init(_ place: String, _ text: String, member: String? = nil) {
    description = "\(place): \(text)"
    path = [place == "the file" ? nil : place, member].compactMap(\.self).joined(separator: ".")
  }

  /// Creates an error for a value that does not match its form.
  init(_ failure: FormFailure) {
    let place = ServerText(failure.path.drop { $0 == "." }, limit: .max).description
    let message = failure.message ?? "The value is of another kind."
    self.init(
      place.isEmpty ? "the file" : place, ServerText(message, limit: .max).description,
      member: failure.member)
  }

  /// Returns the result of `read`, and turns the errors of options and of the library into one for
  /// `place`.
  static func at<Value>(_ place: String, _ read: () throws -> Value) throws -> Value {
    do {
      return try read()
    } catch let error as PageError {
      throw SyncFileError(place, error.message)
    } catch let error as ValidationError {
      throw SyncFileError(place, error.message)
    }
  }
}
