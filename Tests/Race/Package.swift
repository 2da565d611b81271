// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of Quire never resolve the peers it is measured against.
let package = Package(
  name: "Race",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Quire", path: "../..", traits: []),
    .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
  ],
  targets: [
    .executableTarget(
      name: "QuireRacer",
      dependencies: [
        .product(name: "Quire", package: "Quire"),
        .product(name: "QuireJSON", package: "Quire"),
        .product(name: "QuirePagination", package: "Quire"),
      ]),
    .executableTarget(
      name: "ClientRacer",
      dependencies: [.product(name: "AsyncHTTPClient", package: "async-http-client")]),
  ]
)
