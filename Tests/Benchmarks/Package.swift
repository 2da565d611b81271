// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of Quire never resolve the peers it is measured against.
let package = Package(
  name: "QuireBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Quire", path: "../..", traits: ["SQLite"]),
    .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/CoreOffice/XMLCoder", exact: "0.18.2"),
  ],
  targets: [
    // The floor: what the same walk costs in C, on one reused libcurl handle, and the same page on
    // libxml2's own parser.
    .target(
      name: "Floor", cSettings: [.unsafeFlags(["-I/usr/include/libxml2"])],
      linkerSettings: [.linkedLibrary("curl"), .linkedLibrary("xml2")]),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "Floor",
        .product(name: "Quire", package: "Quire"),
        .product(name: "QuireCore", package: "Quire"),
        .product(name: "QuireLists", package: "Quire"),
        .product(name: "QuireListModel", package: "Quire"),
        .product(name: "QuireHTTP", package: "Quire"),
        .product(name: "QuireCurl", package: "Quire"),
        .product(name: "QuireJSON", package: "Quire"),
        .product(name: "QuirePagination", package: "Quire"),
        .product(name: "QuireXML", package: "Quire"),
        .product(name: "QuireExport", package: "Quire"),
        .product(name: "QuireSQLite", package: "Quire"),
        "XMLCoder",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
      ]),
  ]
)
