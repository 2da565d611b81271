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
        "CFuzzer", quire("QuireXML"), quire("QuirePagination"), quire("QuireCore"),
      ]),
    .executableTarget(
      name: "PageFuzzer",
      dependencies: [
        "CFuzzer", quire("QuireDetect"), quire("QuireHTTP"), quire("QuireXML"), quire("QuireJSON"),
        quire("QuirePagination"), quire("QuireCore"),
      ]),
    .executableTarget(
      name: "FeedFuzzer", dependencies: ["CFuzzer", quire("QuireFeeds"), quire("QuireCore")]),
    .executableTarget(
      name: "JSONFuzzer",
      dependencies: [
        "CFuzzer", quire("QuireJSON"), quire("QuirePagination"), quire("QuireCore"),
      ]),
  ]
)

func quire(_ product: String) -> Target.Dependency { .product(name: product, package: "Quire") }
