public import QuireCore
import QuirePagination
import Synchronization

/// The addresses that a transport may connect to for one request.
///
/// A transport must check every address before it connects, and the address of a connection that it
/// uses again, and throw `refusedAddress` if there is an objection.
public struct AddressGuard: Sendable {
  private let policy: AddressPolicy
  private let isHome: Bool
  /// The address in the listing's own URL; nil if the URL has a name.
  private let literal: IPAddress?
  private let note: HomeNote

  /// The guard for requests that belong to no walk, which allows all addresses.
  public static let none = AddressGuard(.unrestricted, isHome: true, literal: nil, HomeNote())

  init(_ policy: AddressPolicy, isHome: Bool, literal: IPAddress?, _ note: HomeNote) {
    self.policy = policy
    self.isHome = isHome
    self.literal = literal
    self.note = note
  }

  /// Returns why an address must not be connected to, such as
  /// `10.0.0.7, an address of a private network`; nil if it may be.
  public func objection(to address: IPAddress, port: Int? = nil) -> String? {
    if let objection = port.flatMap(objection(toPort:)) { return objection }
    let scope = address.scope
    if policy.reach == .everything { return nil }
    let isAllowed = policy.networks.contains {
      $0.contains(address) && (scope != .metadata || $0.isSingle)
    }
    if isAllowed || scope == .global {
      // An allowed address counts as public, so that the walk does not reach other private ones.
      if isHome { note.reached(isPublic: true) }
      return nil
    }
    // Computed, because its text is rarely needed.
    var place: String { "\(address), an address of \(scope.words)" }
    guard policy.reach == .standard, isHome else { return place }
    if literal == address {
      note.reached(isPublic: false)
      return nil
    }
    if scope == .metadata || scope == .linkLocal || scope == .special { return place }
    return note.reached(isPublic: false) ? nil : "\(place), and the walk began at a public one"
  }

  /// Returns the objection to a host in a URL, if the host alone tells: an IP address in any
  /// notation, or a name of this machine or of a metadata service.
  public func objection(toHost host: String, port: Int? = nil) -> String? {
    if let address = IPAddress(host) { return objection(to: address, port: port) }
    let name = host.lowercased().drop { $0 == "." }
    let plain = name.hasSuffix(".") ? name.dropLast() : name
    if plain == "localhost" || plain.hasSuffix(".localhost") {
      return objection(to: IPAddress(ipv4: 0x7F00_0001), port: port)
    }
    if Self.metadataNames.contains(String(plain)), !isHome {
      return objection(to: IPAddress(ipv4: 0xA9FE_A9FE), port: port)
    }
    // The port can be checked even if the address is unknown.
    return port.flatMap(objection(toPort:))
  }

  private func objection(toPort port: Int) -> String? {
    guard let ports = policy.ports, !ports.contains(port) else { return nil }
    return "port \(port) is none of \(ports.sorted().map(String.init).joined(separator: ", "))"
  }

  private static let metadataNames: Set<String> = [
    "metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal",
  ]
}

/// Notes whether a listing's own host has a public address.
final class HomeNote: Sendable {
  private let isPublic = Mutex<Bool?>(nil)

  /// Notes the address of a connection. Returns false if it is private and an earlier one was
  /// public.
  @discardableResult
  func reached(isPublic now: Bool) -> Bool {
    isPublic.withLock { isPublic in
      if now || isPublic == nil { isPublic = now }
      return now || isPublic == false
    }
  }

  /// Whether an address was noted, and all were private.
  var isPrivate: Bool { isPublic.withLock { $0 } == false }
}

extension PageError {
  /// Returns the error of a request to a host that must not be reached.
  public static func refusedAddress(of host: String, _ objection: String) -> PageError {
    PageError(
      .refusedAddress,
      "\(ServerText(host, limit: 80)) must not be reached: \(objection). Nothing was sent there.",
      remedies: [
        Remedy(
          .addresses, [".standard.allowing(…)"],
          condition: "if the servers of this walk may lead there")
      ],
      attempts: 0)
  }
}

extension Remedy.Setting {
  /// The setting that says which addresses a walk may reach.
  public static let addresses = Self("configuration.addresses")
}
