import Quire

struct Record: Decodable, Sendable {
  let id: Int
  let name: String
}

@main
struct HelloQuire {
  static func main() async throws {
    try await list(CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080/link-header")
  }

  @concurrent static func list(_ url: String) async throws {
    let records = PageClient().cursor(of: Record.self, at: url, pagination: .linkHeader)

    for try await record in records.items {
      print(record.id, record.name)
    }
  }
}
