import AsyncHTTPClient
import Floor
import Foundation
import NIOCore
import NIOFoundationCompat

/// The same walks without Quire. Both peers are told the page numbers in advance: they read no
/// links, check no origins and guard against no loops.
enum Peers {
  /// C and one reused libcurl handle: the floor.
  static func floor(_ server: Server, pages: Int) throws {
    guard floor_walk(server.pagePrefix, Int32(pages)) > 0 else { throw Failure() }
  }

  /// AsyncHTTPClient, the bytes of each page collected.
  static func asyncHTTPClient(_ server: Server, pages: Int) async throws {
    for number in 1...pages { _ = try await body(server.pagePrefix + "\(number)") }
  }

  /// AsyncHTTPClient and JSONDecoder: what one would write by hand.
  static func typedAsyncHTTPClient(_ server: Server, pages: Int) async throws {
    let decoder = JSONDecoder()
    for number in 1...pages {
      _ = try decoder.decode([Record].self, from: try await body(server.pagePrefix + "\(number)"))
    }
  }

  private static func body(_ url: String) async throws -> ByteBuffer {
    let response = try await HTTPClient.shared.execute(
      HTTPClientRequest(url: url), timeout: .seconds(30))
    guard response.status == .ok else { throw Failure() }
    return try await response.body.collect(upTo: 1 << 20)
  }

  struct Failure: Error {}
}
