// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that it is built in release without what only tests and the tool need.
let package = Package(
  name: "Instructions",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Quire", path: "../..", traits: []),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    .executableTarget(
      name: "Instructions",
      dependencies: [
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Quire", package: "Quire"),
        .product(name: "QuireHTTP", package: "Quire"),
        .product(name: "QuireJSON", package: "Quire"),
        .product(name: "QuirePagination", package: "Quire"),
      ])
  ]
)
