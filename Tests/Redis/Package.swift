// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as those who use EskerRedis have: it asks for the trait. Its tests start servers of their own.
let package = Package(
  name: "EskerRedisTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Esker", path: "../..", traits: ["Redis"]),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.86.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
  ],
  targets: [
    // What the client costs beside redis-benchmark. Run it in release.
    .executableTarget(
      name: "esker-redis-benchmark",
      dependencies: [
        .product(name: "EskerRedis", package: "Esker"),
        .product(name: "EskerRemote", package: "Esker"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      path: "Sources/Benchmark",
      swiftSettings: [.treatAllWarnings(as: .error)]
    ),
    // A process that tests stop and kill. In debug only: it plants errors.
    .executableTarget(
      name: "esker-redis-process",
      dependencies: [
        .product(name: "Esker", package: "Esker"),
        .product(name: "EskerRedis", package: "Esker"),
        .product(name: "EskerRemote", package: "Esker"),
        .product(name: "_EskerInternals", package: "Esker"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/Process",
      swiftSettings: [.treatAllWarnings(as: .error)]
    ),
    // Queues writes until it is killed.
    .executableTarget(
      name: "esker-queue-writer",
      dependencies: [
        .product(name: "Esker", package: "Esker"),
        .product(name: "EskerRedis", package: "Esker"),
        .product(name: "EskerRemote", package: "Esker"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/QueueWriter",
      swiftSettings: [.treatAllWarnings(as: .error)]
    ),
    .testTarget(
      name: "RedisTests",
      dependencies: [
        "esker-redis-process",
        "esker-queue-writer",
        .product(name: "Esker", package: "Esker"),
        .product(name: "EskerRedis", package: "Esker"),
        .product(name: "EskerRemote", package: "Esker"),
        .product(name: "_EskerTestSupport", package: "Esker"),
        .product(name: "_EskerInternals", package: "Esker"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]
    ),
  ],
  swiftLanguageModes: [.v6]
)
