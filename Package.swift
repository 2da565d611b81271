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

/// What reads listings; a test may look into any of them.
let libraries: [Target.Dependency] = [
  "QuireCore", "QuireLists", "QuirePagination", "QuireJSON", "QuireXML", "QuireHTTP", "QuireCurl",
]

let package = Package(
  name: "Quire",
  // The oldest Apple systems that have the APIs used here. Only Linux is built and tested today.
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Quire", targets: ["Quire"]),
    .library(name: "QuireCore", targets: ["QuireCore"]),
    .library(name: "QuireLists", targets: ["QuireLists"]),
    .library(name: "QuirePagination", targets: ["QuirePagination"]),
    .library(name: "QuireJSON", targets: ["QuireJSON"]),
    .library(name: "QuireHTTP", targets: ["QuireHTTP"]),
    .library(name: "QuireCurl", targets: ["QuireCurl"]),
    .library(name: "QuireXML", targets: ["QuireXML"]),
    .library(name: "QuireAWS", targets: ["QuireAWS"]),
    .library(name: "QuireDetect", targets: ["QuireDetect"]),
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
    // Lists that people look at: sections, layout, scroll controls.
    .target(name: "QuireLists", dependencies: ["QuireCore"], swiftSettings: house),
    // The files of presets, embedded.
    .target(name: "CPresets"),
    // What a page says and how a listing pages: documents, descriptions, presets. No sockets.
    .target(
      name: "QuirePagination", dependencies: ["QuireCore", "CPresets", httpTypes],
      exclude: ["Presets"], swiftSettings: house),
    // The JSON index behind PageDecoder.
    .target(
      name: "QuireJSON", dependencies: ["QuirePagination", "QuireCore"], swiftSettings: house),
    // libxml2 (SAX2 push) behind PageDecoder.
    .target(
      name: "QuireXML", dependencies: ["QuirePagination", "QuireCore", "CXML2"],
      swiftSettings: house),
    // Pages over HTTP, without sockets: fetching, links, secrets, retries.
    .target(
      name: "QuireHTTP", dependencies: ["QuirePagination", "QuireCore", httpTypes, logging],
      swiftSettings: house),
    // libcurl behind HTTPTransport.
    .target(
      name: "QuireCurl",
      dependencies: ["QuireHTTP", "QuirePagination", "QuireCore", "CCurl", "CZlib", httpTypes],
      swiftSettings: house),
    // Amazon's signatures: brings in libcrypto.
    .target(
      name: "QuireAWS", dependencies: ["QuireHTTP", "QuirePagination", "CCrypto", httpTypes],
      swiftSettings: house),
    // Which description fits an answer.
    .target(
      name: "QuireDetect",
      dependencies: [
        "QuireHTTP", "QuirePagination", "QuireJSON", "QuireXML", "QuireCore", httpTypes,
      ], swiftSettings: house),
    // The face: one import for users.
    .target(
      name: "Quire", dependencies: libraries + ["QuireDetect", httpTypes, logging],
      swiftSettings: house),
    // Fakes, gates, clocks and conformance suites for everyone who implements a door.
    .target(
      name: "QuireTesting", dependencies: ["QuireCore", "QuirePagination", "QuireHTTP", httpTypes],
      swiftSettings: house),
    // The command-line tool and its demo API.
    .executableTarget(
      name: "QuireCommand",
      dependencies: [
        "Quire", "QuireDetect", "QuireAWS", httpTypes, logging, flyingFox, argumentParser,
      ] + libraries, swiftSettings: house),

    // A fault server on raw sockets (TLS by OpenSSL) and fixtures, for every test below.
    .systemLibrary(
      name: "COpenSSL", path: "Tests/COpenSSL", pkgConfig: "openssl",
      providers: [.apt(["libssl-dev"])]),
    .target(
      name: "TestSupport",
      dependencies: [
        "COpenSSL", "QuireTesting", "QuireHTTP", "QuirePagination", "QuireJSON", "QuireCore",
      ],
      path: "Tests/Support", swiftSettings: house),
    tests(of: "QuireCore"),
    tests(of: "QuireJSON", with: [httpTypes]),
    tests(of: "QuireLists"),
    tests(of: "QuireXML"),
    tests(of: "QuireHTTP", with: ["QuireDetect", httpTypes, logging]),
    tests(of: "QuireCurl", with: ["CCurl", "CZlib", httpTypes]),
    tests(of: "QuireAWS", with: ["QuireAWS", httpTypes]),
    tests(of: "Quire", with: ["Quire", "QuireDetect", httpTypes]),
    tests(
      of: "QuireCommand",
      with: [
        "QuireCommand", "Quire", httpTypes, argumentParser, "HelloQuire", "ExportWithResume",
        "ClosureSource", "ListBucket", "TerminalReader",
      ]),

    // Small programs that the tests run.
    example("HelloQuire"),
    example("ExportWithResume"),
    example("ClosureSource"),
    example("ListBucket"),
    example("TerminalReader"),
  ],
  cLanguageStandard: .c2x
)

func example(_ name: String) -> Target {
  .executableTarget(
    name: name, dependencies: ["Quire", "QuireLists"], path: "Examples/\(name)",
    swiftSettings: house)
}

func tests(of module: String, with more: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(module)Tests", dependencies: libraries + ["QuireTesting", "TestSupport"] + more,
    swiftSettings: house)
}
