// swift-tools-version: 6.2
import PackageDescription

// A package as somebody else writes it: it must build from nothing, with Foundation beside Quire.
let package = Package(
  name: "Consumer",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "quire", path: "../..", traits: [])],
  targets: [
    .executableTarget(name: "Consumer", dependencies: [.product(name: "Quire", package: "quire")])
  ]
)
