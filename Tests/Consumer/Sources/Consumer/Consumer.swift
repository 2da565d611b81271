import Foundation
import Quire

struct Record: Decodable, Sendable {
  let id: Int
}

@main
struct Consumer {
  static func main() async throws {
    let url = ProcessInfo.processInfo.arguments.dropFirst().first ?? "http://127.0.0.1:8080/drf"
    for try await record in PageClient().cursor(of: Record.self, at: url, pagination: .drf).items {
      print(record.id)
    }
  }
}
