// swift-tools-version: 6.2
import PackageDescription

// A package of its own: a program in release, and nothing of servers or peers to build. What is measured
// elsewhere too is linked from Tests/Benchmarks.
let package = Package(
  name: "QuireFeeding",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Quire", path: "../..", traits: ["SQLite"]),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    .target(
      name: "Floor", cSettings: [.unsafeFlags(["-I/usr/include/libxml2"])],
      linkerSettings: [.linkedLibrary("curl"), .linkedLibrary("xml2")]),
    .executableTarget(
      name: "FeedProof",
      dependencies: [
        "Floor",
        .product(name: "Quire", package: "Quire"),
        .product(name: "QuireCore", package: "Quire"),
        .product(name: "QuirePagination", package: "Quire"),
        .product(name: "QuireHTTP", package: "Quire"),
        .product(name: "QuireFeeds", package: "Quire"),
        .product(name: "QuireFeedsSQLite", package: "Quire"),
        .product(name: "QuireServing", package: "Quire"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
  ]
)
