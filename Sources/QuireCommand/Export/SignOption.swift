import ArgumentParser
import Foundation
import Quire
import QuireAWS

/// `--sign aws:SERVICE[:REGION]`, with credentials from where Amazon's own tools look first: the
/// environment.
enum SignOption {
  /// The signer that the option's text stands for. No message here repeats a secret.
  static func signer(
    _ text: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> RequestSigner {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (2...3).contains(parts.count), parts[0] == "aws", !parts[1].isEmpty else {
      throw ValidationError(
        "--sign \(text): not a way to sign. Write --sign aws:SERVICE or --sign aws:SERVICE:REGION, "
          + "such as --sign aws:dynamodb:eu-central-1.")
    }
    let credentials = AWSCredentials(
      accessKey: try value("AWS_ACCESS_KEY_ID", environment),
      secretKey: try value("AWS_SECRET_ACCESS_KEY", environment),
      sessionToken: environment["AWS_SESSION_TOKEN"].flatMap { $0.isEmpty ? nil : $0 })
    return .aws(
      credentials, region: try region(parts.count > 2 ? parts[2] : "", environment),
      service: parts[1])
  }

  private static func region(_ given: String, _ environment: [String: String]) throws -> String {
    let places = [given, environment["AWS_REGION"] ?? "", environment["AWS_DEFAULT_REGION"] ?? ""]
    guard let region = places.first(where: { !$0.isEmpty }) else {
      throw ValidationError(
        "--sign: no region. Write --sign aws:SERVICE:REGION, or set AWS_REGION.")
    }
    return region
  }

  private static func value(_ name: String, _ environment: [String: String]) throws -> String {
    guard let value = environment[name] else {
      throw ValidationError("--sign: the environment variable \(name) is not set.")
    }
    guard !value.isEmpty else {
      throw ValidationError("--sign: the environment variable \(name) is empty.")
    }
    return value
  }
}
