// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as those who use Esker have: it asks for all traits, so that Esker itself is built without.
let package = Package(
  name: "EskerIntegrations",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Esker", path: "../..", traits: ["Protobuf", "SwiftLog", "Metrics", "Macros"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.30.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"604.0.0"),
  ],
  targets: [
    // The code of the macro, by symbolic links: the program that expands it cannot be imported from another package.
    .target(
      name: "MacroCode",
      dependencies: [
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax")
      ],
      path: "Tests/MacroCode",
      swiftSettings: [.treatAllWarnings(as: .error), .define("Macros")]
    ),
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "MacroCode",
        .product(name: "Esker", package: "Esker"),
        .product(name: "EskerProtobuf", package: "Esker"),
        .product(name: "EskerSwiftLog", package: "Esker"),
        .product(name: "EskerMetrics", package: "Esker"),
        .product(name: "EskerMacros", package: "Esker"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]
    ),
  ],
  swiftLanguageModes: [.v6]
)
