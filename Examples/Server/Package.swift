// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

// A package of its own, as yours is. There the first dependency is the address of the repository.
let package = Package(
  name: "esker-server-example",
  platforms: [.macOS(.v15)],
  products: [.library(name: "EskerHummingbird", targets: ["EskerHummingbird"])],
  dependencies: [
    .package(name: "Esker", path: "../..", traits: ["Redis", "SwiftLog"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
  ],
  targets: [
    .executableTarget(
      name: "Server",
      dependencies: [
        .product(name: "Esker", package: "Esker"),
        .product(name: "EskerRedis", package: "Esker"),
        .product(name: "EskerRemote", package: "Esker"),
        .product(name: "EskerSwiftLog", package: "Esker"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict
    ),
    // What Hummingbird persists across requests, in a storage.
    .target(
      name: "EskerHummingbird",
      dependencies: [
        .product(name: "Esker", package: "Esker"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "Notes",
      dependencies: [
        "EskerHummingbird",
        .product(name: "Esker", package: "Esker"),
        .product(name: "EskerSwiftLog", package: "Esker"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "EskerHummingbirdTests",
      dependencies: [
        "EskerHummingbird",
        .product(name: "Esker", package: "Esker"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ],
      swiftSettings: strict
    ),
  ],
  swiftLanguageModes: [.v6]
)
