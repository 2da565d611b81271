// swift-tools-version: 6.2
import PackageDescription

// A package of its own: it is built as a whole with libFuzzer and AddressSanitizer.
let package = Package(
  name: "QuireFuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Quire", path: "../..")],
  targets: [
    .systemLibrary(name: "CFuzzer"),
    .executableTarget(
      name: "XMLFuzzer",
      dependencies: [
        "CFuzzer",
        .product(name: "QuireXML", package: "Quire"), .product(name: "QuireHTTP", package: "Quire"),
        .product(name: "QuireCore", package: "Quire"),
      ]),
    .executableTarget(
      name: "PageFuzzer",
      dependencies: [
        "CFuzzer",
        .product(name: "QuireXML", package: "Quire"), .product(name: "QuireHTTP", package: "Quire"),
        .product(name: "QuireCore", package: "Quire"),
      ]),
    .executableTarget(
      name: "JSONFuzzer",
      dependencies: [
        "CFuzzer", .product(name: "QuireHTTP", package: "Quire"),
        .product(name: "QuireCore", package: "Quire"),
      ]),
  ]
)
