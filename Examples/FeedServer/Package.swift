// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of Quire never resolve a server framework.
let package = Package(
  name: "FeedServer",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Quire", path: "../..", traits: ["SQLite"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .executableTarget(
      name: "FeedServer",
      dependencies: [
        .product(name: "Quire", package: "Quire"),
        .product(name: "QuireFeeds", package: "Quire"),
        .product(name: "QuireFeedsSQLite", package: "Quire"),
        .product(name: "QuireServing", package: "Quire"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      resources: [.embedInCode("Public")])
  ]
)
