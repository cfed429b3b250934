// swift-tools-version: 6.2
import PackageDescription

/// As in Esker's own manifest: warnings are errors, and what is shipped marks each use of an unsafe construct.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let shipped: [SwiftSetting] = strict + [.strictMemorySafety()]

// A package of its own: those who use Esker as a library fetch and build nothing for the tool. Its directory is not called
// esker, as a checkout may be: a package is known by its directory's name.
let package = Package(
  name: "EskerTool",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "esker", targets: ["esker-tool"])
  ],
  dependencies: [
    .package(name: "Esker", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    .package(url: "https://github.com/ordo-one/TextTable", from: "0.0.2"),
  ],
  targets: [
    // The system's zlib, for dumps and inputs that are compressed. A child process would need a gzip, and its errors read as text.
    .systemLibrary(name: "CZlib", path: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .executableTarget(
      name: "esker-tool",
      dependencies: [
        "CZlib",
        .product(name: "Esker", package: "Esker"),
        .product(name: "EskerCBOR", package: "Esker"),
        .product(name: "EskerTools", package: "Esker"),
        .product(name: "_EskerInternals", package: "Esker"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "TextTable", package: "TextTable"),
      ],
      path: "Sources",
      swiftSettings: shipped
    ),
    .testTarget(
      name: "EskerToolTests",
      dependencies: [
        "esker-tool",
        .product(name: "Esker", package: "Esker"),
        .product(name: "EskerCBOR", package: "Esker"),
        .product(name: "EskerTools", package: "Esker"),
        .product(name: "_EskerInternals", package: "Esker"),
        .product(name: "_EskerTestSupport", package: "Esker"),
      ],
      path: "Tests",
      swiftSettings: strict
    ),
  ],
  swiftLanguageModes: [.v6]
)
