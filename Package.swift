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

let httpTypes = product("HTTPTypes", of: "swift-http-types")
let logging = product("Logging", of: "swift-log")
let argumentParser = product("ArgumentParser", of: "swift-argument-parser", trait: "Tool")
let flyingFox = product("FlyingFox", of: "FlyingFox", trait: "Tool")
let yams = product("Yams", of: "Yams", trait: "Tool")
let grdb = ["GRDB", "GRDBSQLite"].map { product($0, of: "GRDB.swift", trait: "SQLite") }
let metrics = product("CoreMetrics", of: "swift-metrics", trait: "Telemetry")
let metricsKit = product("MetricsTestKit", of: "swift-metrics", trait: "Telemetry")
let tracing = product("Tracing", of: "swift-distributed-tracing", trait: "Telemetry")
let tracingKit = product("InMemoryTracing", of: "swift-distributed-tracing", trait: "Telemetry")

/// Small programs that the tests run.
let examples = [
  "HelloQuire", "ExportWithResume", "ClosureSource", "ListBucket", "FiftyWalks", "TerminalReader",
  "IssueList", "OwnSink",
]

let reading: [Target.Dependency] = [
  "QuireHTTP", "QuirePagination", "QuireJSON", "QuireXML", "QuireCore",
]
/// What reads listings; a test may look into any of them.
let libraries = reading + ["QuireLists", "QuireListModel", "QuireCurl"]

let package = Package(
  name: "Quire",
  // The oldest Apple systems that have the APIs used here. Only Linux is built and tested today.
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    "Quire", "QuireCore", "QuireLists", "QuireListModel", "QuirePagination", "QuireJSON",
    "QuireXML", "QuireHTTP", "QuireCurl", "QuireAWS", "QuireDetect", "QuireExport", "QuireSQLite",
    "QuirePostgres", "QuireFeeds", "QuireFeedsSQLite", "QuireFeedsPostgres", "QuireServing",
    "QuireTelemetry", "QuireTesting",
  ].map { .library(name: $0, targets: [$0]) }
    + [.executable(name: "quire", targets: ["QuireCommand"])],
  // A package that uses the libraries alone depends with `traits: []`: nothing of the tool is resolved.
  traits: [
    .default(enabledTraits: ["Tool"]),
    .trait(name: "Tool", description: "The tool quire.", enabledTraits: ["SQLite", "Telemetry"]),
    .trait(name: "Telemetry", description: "QuireTelemetry."),
    .trait(name: "SQLite", description: "QuireSQLite and QuireFeedsSQLite."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // System libraries: a module map and a shim each.
    system("CCurl", "libcurl", from: "libcurl4-openssl-dev"),
    system("CCrypto", "libcrypto", from: "libssl-dev"),
    system("CZlib", "zlib", from: "zlib1g-dev"),
    system("CXML2", "libxml-2.0", from: "libxml2-dev"),
    system("CPostgreSQL", "libpq", from: "libpq-dev"),

    // What each library is for is said in CONTRIBUTING.md; CPresets embeds the files of presets.
    .target(name: "CPresets"),
    library("QuireCore"),
    library("QuireLists", ["QuireCore"]),
    library("QuireListModel", ["QuireLists", "QuireCore"]),
    library("QuirePagination", ["QuireCore", "CPresets", httpTypes], exclude: ["Presets"]),
    library("QuireJSON", ["QuirePagination", "QuireCore"]),
    library("QuireXML", ["QuirePagination", "QuireCore", "CXML2"]),
    library("QuireHTTP", ["QuirePagination", "QuireCore", httpTypes, logging]),
    library(
      "QuireCurl", ["QuireHTTP", "QuirePagination", "QuireCore", "CCurl", "CZlib", httpTypes]),
    library("QuireAWS", ["QuireHTTP", "QuirePagination", "CCrypto", httpTypes]),
    library("QuireDetect", reading + [httpTypes]),
    library("QuireExport", reading + ["CZlib"]),
    library("QuireSQLite", ["QuireExport", "QuireListModel"] + reading + grdb),
    library("QuirePostgres", ["QuireExport", "QuirePagination", "QuireCore", "CPostgreSQL"]),
    library("QuireFeeds", reading + [httpTypes]),
    library("QuireFeedsSQLite", ["QuireFeeds", "QuireCore"] + grdb),
    library("QuireFeedsPostgres", ["QuireFeeds", "QuirePostgres", "QuireCore"]),
    library("QuireTelemetry", ["QuireHTTP", "QuireCore", metrics, tracing]),
    library("QuireServing", ["QuirePagination", "QuireCore", "CCrypto", httpTypes]),
    library("Quire", libraries + ["QuireDetect", httpTypes, logging]),
    library("QuireTesting", reading + ["QuireExport", "QuireFeeds", "QuireListModel", httpTypes]),
    // The command-line tool and its demo API.
    .executableTarget(
      name: "QuireCommand",
      dependencies: [
        "Quire", "QuireDetect", "QuireExport", "QuireSQLite", "QuirePostgres", "QuireFeeds",
        "QuireAWS", httpTypes, logging, flyingFox, argumentParser, yams,
      ] + libraries + grdb, swiftSettings: house),

    // A fault server on raw sockets (TLS by OpenSSL) and fixtures, for every test below.
    system("COpenSSL", "openssl", from: "libssl-dev", path: "Tests/COpenSSL"),
    .target(
      name: "TestSupport", dependencies: libraries + ["QuireTesting", "QuireExport", "COpenSSL"],
      path: "Tests/Support", swiftSettings: house),
    tests(of: "QuireCore"),
    tests(of: "QuireJSON", with: [httpTypes]),
    tests(of: "QuireLists"),
    tests(of: "QuireListModel"),
    tests(of: "QuireXML"),
    tests(of: "QuireHTTP", with: ["QuireDetect", httpTypes, logging]),
    tests(of: "QuireCurl", with: ["CCurl", "CZlib", httpTypes]),
    tests(of: "QuireAWS", with: ["QuireAWS", httpTypes]),
    tests(of: "QuireFeeds", with: ["QuireFeeds", "Quire", httpTypes]),
    tests(of: "QuireFeedsSQLite", with: ["QuireFeedsSQLite", "QuireFeeds"] + grdb),
    tests(of: "QuireFeedsPostgres", with: ["QuireFeedsPostgres", "QuireFeeds", httpTypes]),
    tests(of: "QuireExport", with: ["QuireExport", "Quire", "CZlib"]),
    tests(of: "QuireSQLite", with: ["QuireSQLite", "QuireExport", "Quire"] + grdb),
    tests(of: "QuirePostgres", with: ["QuirePostgres", "QuireExport", "Quire", "CPostgreSQL"]),
    tests(
      of: "QuireTelemetry", with: ["QuireTelemetry", metrics, metricsKit, tracing, tracingKit]),
    tests(of: "QuireServing", with: ["QuireServing", httpTypes]),
    tests(of: "Quire", with: ["Quire", "QuireDetect", httpTypes]),
    tests(
      of: "QuireCommand",
      with: ["QuireCommand", "QuireExport", "Quire", httpTypes, argumentParser] + grdb
        + examples.map { .target(name: $0) }),
  ] + examples.map(example),
  cLanguageStandard: .c2x
)

func product(_ name: String, of package: String, trait: String? = nil) -> Target.Dependency {
  guard let trait else { return .product(name: name, package: package) }
  return .product(name: name, package: package, condition: .when(traits: [trait]))
}

func system(_ name: String, _ library: String, from apt: String, path: String? = nil) -> Target {
  .systemLibrary(name: name, path: path, pkgConfig: library, providers: [.apt([apt])])
}

func library(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: house)
}

func example(_ name: String) -> Target {
  .executableTarget(
    name: name, dependencies: ["Quire", "QuireLists", "QuireListModel", "QuireExport"],
    path: "Examples/\(name)", swiftSettings: house)
}

func tests(of module: String, with more: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(module)Tests", dependencies: libraries + ["QuireTesting", "TestSupport"] + more,
    swiftSettings: house)
}
