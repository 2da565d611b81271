// swift-tools-version: 6.2
import PackageDescription

/// One set of rules for every target: strict imports, explicit existentials, and no warning left standing.
let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"]))
let flyingFox: Target.Dependency = .product(
  name: "FlyingFox", package: "FlyingFox", condition: .when(traits: ["Tool"]))
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
  name: "Quire",
  // The oldest Apple systems that have the APIs used here. Only Linux is built and tested today.
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Quire", targets: ["Quire"]),
    .library(name: "QuireCore", targets: ["QuireCore"]),
    .library(name: "QuireHTTP", targets: ["QuireHTTP"]),
    .library(name: "QuireCurl", targets: ["QuireCurl"]),
    .library(name: "QuireXML", targets: ["QuireXML"]),
    .library(name: "QuireAWS", targets: ["QuireAWS"]),
    .library(name: "QuireTesting", targets: ["QuireTesting"]),
    .executable(name: "quire", targets: ["QuireCommand"]),
  ],
  // A package that uses the libraries alone depends with `traits: []`, and resolves nothing that only
  // the tool needs.
  traits: [
    .default(enabledTraits: ["Tool"]), .trait(name: "Tool", description: "The tool quire."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    // System libraries: a module map and a shim each.
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),

    // Pages, cursors, paginator. Standard library only.
    .target(name: "QuireCore", swiftSettings: house),
    // Pages over HTTP, without sockets: descriptions, decoding, link security, retries.
    .target(
      name: "QuireHTTP", dependencies: ["QuireCore", httpTypes, logging],
      resources: [.embedInCode("Pagination/pagination.schema.json")], swiftSettings: house),
    // libcurl behind HTTPTransport.
    .target(
      name: "QuireCurl",
      dependencies: ["QuireHTTP", "QuireCore", "CCurl", "CZlib", httpTypes], swiftSettings: house),
    // libxml2 (SAX2 push) behind PageDecoder.
    .target(
      name: "QuireXML", dependencies: ["QuireHTTP", "QuireCore", "CXML2"], swiftSettings: house),
    // Amazon's signatures, for whoever needs them: brings in libcrypto.
    .target(
      name: "QuireAWS", dependencies: ["QuireHTTP", "CCrypto", httpTypes], swiftSettings: house),
    // The face: one import for users.
    .target(
      name: "Quire",
      dependencies: ["QuireCore", "QuireHTTP", "QuireCurl", "QuireXML", httpTypes, logging],
      swiftSettings: house),
    // Fakes, gates, clocks and conformance suites for everyone who implements a door.
    .target(
      name: "QuireTesting", dependencies: ["QuireCore", "QuireHTTP", httpTypes],
      swiftSettings: house),
    // The command-line tool and its demo API.
    .executableTarget(
      name: "QuireCommand",
      dependencies: [
        "Quire", "QuireCore", "QuireHTTP", "QuireCurl", "QuireXML", "QuireAWS", httpTypes,
        logging, flyingFox, argumentParser,
      ], swiftSettings: house),

    // A fault server on raw sockets (TLS by OpenSSL) and fixtures, for every test below.
    .systemLibrary(
      name: "COpenSSL", path: "Tests/COpenSSL", pkgConfig: "openssl",
      providers: [.apt(["libssl-dev"])]),
    .target(
      name: "TestSupport", dependencies: ["COpenSSL"], path: "Tests/Support", swiftSettings: house),
    .testTarget(
      name: "QuireCoreTests", dependencies: ["QuireCore", "QuireTesting"], swiftSettings: house),
    .testTarget(
      name: "QuireHTTPTests",
      dependencies: [
        "QuireHTTP", "QuireXML", "QuireCore", "QuireTesting", "TestSupport", httpTypes, logging,
      ],
      swiftSettings: house),
    .testTarget(
      name: "QuireCurlTests",
      dependencies: [
        "QuireCurl", "QuireHTTP", "QuireCore", "QuireTesting", "TestSupport", "CCurl",
        "CZlib", httpTypes,
      ],
      swiftSettings: house),
    .testTarget(
      name: "QuireXMLTests",
      dependencies: ["QuireXML", "QuireHTTP", "QuireCore", "QuireTesting", "TestSupport"],
      swiftSettings: house),
    .testTarget(
      name: "QuireAWSTests", dependencies: ["QuireAWS", "QuireHTTP", "QuireCore", httpTypes],
      swiftSettings: house),
    .testTarget(
      name: "QuireTests",
      dependencies: [
        "Quire", "QuireHTTP", "QuireXML", "QuireCore", "QuireTesting", "TestSupport", httpTypes,
      ],
      swiftSettings: house),
    .testTarget(
      name: "QuireCommandTests",
      dependencies: [
        "QuireCommand", "Quire", "QuireHTTP", "QuireCore", "QuireTesting", "TestSupport", httpTypes,
        argumentParser, "HelloQuire", "ExportWithResume", "ClosureSource", "ListBucket",
        "TerminalReader",
      ],
      swiftSettings: house),

    // Small programs that the tests run.
    example("HelloQuire"),
    example("ExportWithResume"),
    example("ClosureSource"),
    example("ListBucket"),
    example("TerminalReader"),
  ]
)

func example(_ name: String) -> Target {
  .executableTarget(
    name: name, dependencies: ["Quire"], path: "Examples/\(name)", swiftSettings: house)
}
