// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as yours is. There the first dependency is the address of the repository.
let package = Package(
  name: "esker-server-example",
  platforms: [.macOS(.v15)],
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
      swiftSettings: [.treatAllWarnings(as: .error)]
    )
  ],
  swiftLanguageModes: [.v6]
)
