// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// Every Swift target is built with warnings as errors; `treatAllWarnings` does not affect packages that depend on this one.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// What is shipped also marks each use of an unsafe construct.
let shipped: [SwiftSetting] = strict + [.strictMemorySafety()]

/// The command-line tool, `esker`.
let toolTargets: [Target] = [
  // The system's zlib, for dumps and inputs that are compressed. A child process would need a gzip, and its errors read as text.
  .systemLibrary(name: "CZlib", path: "Tools/esker-tool/CZlib", providers: [.apt(["zlib1g-dev"])]),
  .executableTarget(
    name: "esker-tool",
    dependencies: [
      "CZlib", "Esker", "EskerCBOR", "EskerTools", "EskerFormat", "EskerPlatform",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
      .product(name: "NIOHTTP1", package: "swift-nio"),
      .product(name: "NIOPosix", package: "swift-nio"),
    ],
    path: "Tools/esker-tool/Sources",
    swiftSettings: shipped
  ),
  .testTarget(
    name: "EskerToolTests",
    dependencies: [
      "esker-tool", "Esker", "EskerCBOR", "EskerTools", "EskerFormat", "EskerPlatform", "EskerTestSupport",
    ],
    path: "Tools/esker-tool/Tests",
    swiftSettings: strict
  ),
  // What the example for Python reads.
  .executableTarget(
    name: "esker-measurements",
    dependencies: ["EskerLog"],
    path: "Examples/Python/Writer",
    swiftSettings: strict
  ),
]

/// The tests of the products that join Esker to other libraries.
let integrationTargets: [Target] = [
  // The code of the macro, by symbolic links: tests that depended on the program that expands it would be built as such programs are,
  // apart from all else.
  .target(
    name: "MacroCode",
    dependencies: [.product(name: "SwiftSyntaxMacros", package: "swift-syntax")],
    path: "Tests/MacroCode",
    swiftSettings: strict
  ),
  .testTarget(
    name: "IntegrationTests",
    dependencies: [
      "Esker", "EskerProtobuf", "EskerSwiftLog", "EskerMetrics", "EskerMacros", "MacroCode",
      .product(name: "Logging", package: "swift-log"),
      .product(name: "MetricsTestKit", package: "swift-metrics"),
      .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
    ],
    swiftSettings: strict
  ),
]

/// The tests of EskerCrypto.
let cryptoTargets: [Target] = [
  // What sealed values cost beside plain ones. Run it in release.
  .executableTarget(
    name: "esker-crypto-benchmark",
    dependencies: ["Esker", "EskerCrypto", .product(name: "Crypto", package: "swift-crypto")],
    path: "Benchmarks/CryptoBenchmark",
    swiftSettings: strict
  ),
  .testTarget(
    name: "CryptoTests",
    dependencies: [
      "Esker", "EskerCrypto", "EskerLog", "EskerTools", "EskerPlatform", "EskerTestSupport",
      .product(name: "Crypto", package: "swift-crypto"),
    ],
    swiftSettings: strict
  ),
]

/// The tests of EskerRedis, which start servers of their own.
let redisTargets: [Target] = [
  // Requests of remote stores for tasks.
  .target(
    name: "EskerRemoteTestSupport",
    dependencies: ["EskerRemote"],
    path: "Tests/RemoteTestSupport",
    swiftSettings: strict
  ),
  // What the client costs beside redis-benchmark. Run it in release.
  .executableTarget(
    name: "esker-redis-benchmark",
    dependencies: [
      "EskerRedis", "EskerRemote", "EskerRemoteTestSupport",
      .product(name: "NIOCore", package: "swift-nio"),
      .product(name: "NIOPosix", package: "swift-nio"),
    ],
    path: "Benchmarks/RedisBenchmark",
    swiftSettings: strict
  ),
  // A process that tests stop and kill. In debug only: it plants errors.
  .executableTarget(
    name: "esker-redis-process",
    dependencies: [
      "Esker", "EskerRedis", "EskerRemote", "EskerPlatform",
      .product(name: "Logging", package: "swift-log"),
    ],
    path: "Tests/RedisProcess",
    swiftSettings: strict
  ),
  // Queues writes until it is killed.
  .executableTarget(
    name: "esker-queue-writer",
    dependencies: [
      "Esker", "EskerRedis", "EskerRemote",
      .product(name: "Logging", package: "swift-log"),
    ],
    path: "Tests/QueueWriter",
    swiftSettings: strict
  ),
  .testTarget(
    name: "RedisTests",
    dependencies: [
      "esker-redis-process", "esker-queue-writer", "Esker", "EskerRedis", "EskerRemote", "EskerRemoteTestSupport",
      "EskerTestSupport", "EskerPlatform",
      .product(name: "Logging", package: "swift-log"),
      .product(name: "NIOCore", package: "swift-nio"),
      .product(name: "NIOPosix", package: "swift-nio"),
      .product(name: "NIOSSL", package: "swift-nio-ssl"),
      .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
      .product(name: "MetricsTestKit", package: "swift-metrics"),
      .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
    ],
    swiftSettings: strict
  ),
]

/// The program behind Tools/fuzz. It is part of this package, as only that sees what decodes bytes.
let fuzzTargets: [Target] = [
  .systemLibrary(name: "CLibFuzzer", path: "Tests/CLibFuzzer"),
  // The code of EskerRedis that reads what a server sends, by symbolic links, without all that its connections depend on.
  .target(
    name: "WireCode",
    dependencies: [.product(name: "NIOCore", package: "swift-nio")],
    path: "Tests/WireCode",
    swiftSettings: shipped + [.define("Redis"), .unsafeFlags(["-O", "-assert-config", "Debug"])]
  ),
  .executableTarget(
    name: "esker-fuzz",
    dependencies: [
      "CLibFuzzer", "WireCode", "EskerLog", "EskerTools", "EskerFormat", "EskerIndex", "EskerCBOR", "EskerPlatform",
      "CEskerShims", "EskerTestSupport",
      .product(name: "NIOCore", package: "swift-nio"),
    ],
    path: "Tests/Fuzz",
    exclude: ["Corpora"],
    swiftSettings: strict + [.unsafeFlags(["-O", "-assert-config", "Debug"])]
  ),
]

/// The program behind Tools/schedules. It is part of this package, as only that sees the steps of the engine.
let scheduleTargets: [Target] = [
  .systemLibrary(name: "CFork", path: "Tests/CFork"),
  .executableTarget(
    name: "esker-schedules",
    dependencies: ["CFork", "Esker", "EskerLog", "EskerFormat", "EskerIndex", "EskerPlatform", "EskerTestSupport"],
    path: "Tests/Schedules",
    swiftSettings: strict
  ),
]

let package = Package(
  name: "Esker",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Esker", targets: ["Esker"]),
    .library(name: "EskerLog", targets: ["EskerLog"]),
    .library(name: "EskerTools", targets: ["EskerTools"]),
    .library(name: "EskerUI", targets: ["EskerUI"]),
    .library(name: "EskerRemote", targets: ["EskerRemote"]),
    .library(name: "EskerCBOR", targets: ["EskerCBOR"]),
    .library(name: "EskerProtobuf", targets: ["EskerProtobuf"]),
    .library(name: "EskerSwiftLog", targets: ["EskerSwiftLog"]),
    .library(name: "EskerMetrics", targets: ["EskerMetrics"]),
    .library(name: "EskerCrypto", targets: ["EskerCrypto"]),
    .library(name: "EskerRedis", targets: ["EskerRedis"]),
    .library(name: "EskerMacros", targets: ["EskerMacros"]),
    // For the packages of this repository, such as Benchmarks. Not part of the interface.
    .library(name: "_EskerInternals", targets: ["EskerFormat", "EskerPlatform"]),
  ],
  // A package that asks for none of these does not even fetch what they depend on.
  traits: [
    .trait(name: "Protobuf", description: "EskerProtobuf: messages of Protocol Buffers as values"),
    .trait(name: "SwiftLog", description: "EskerSwiftLog: the events of a store in swift-log"),
    .trait(name: "Metrics", description: "EskerMetrics: the figures of stores and memory in swift-metrics"),
    .trait(name: "Crypto", description: "EskerCrypto: values that are encrypted on the disk"),
    .trait(
      name: "Redis",
      description: "EskerRedis: clusters of Redis and Valkey, and single servers, as remote stores"
    ),
    .trait(name: "Macros", description: "EskerMacros: structs to and from CBOR without Codable's calls"),
    .trait(name: "BundledLZ4", description: "The package's own LZ4 on Linux, too, instead of the system's liblz4"),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-crypto", "3.12.0"..<"5.0.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.86.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.2.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.30.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"604.0.0"),
  ],
  targets: [
    // The calls into LZ4: the system's on Linux, elsewhere and with the trait the package's own copy. That is included by the one file
    // that is compiled, which renames what the linker sees of it.
    .target(
      name: "CEskerLZ4",
      exclude: ["README.md", "lz4"],
      cSettings: [.define("ESKER_LZ4_BUNDLED", .when(traits: ["BundledLZ4"]))]
    ),
    // What links the system's liblz4, where it is imported: no setting can depend on a trait that is off. Whoever has no liblz4 shall
    // not be asked for it, so pkg-config is not.
    .systemLibrary(name: "CLZ4"),
    .target(name: "CEskerShims"),
    .target(name: "EskerPlatform", dependencies: ["CEskerShims"], swiftSettings: shipped),
    .target(name: "EskerFormat", dependencies: ["CEskerLZ4", "CLZ4", "CEskerShims"], swiftSettings: shipped),
    .target(name: "EskerIndex", dependencies: ["EskerPlatform", "CEskerShims"], swiftSettings: shipped),
    .target(name: "EskerMemory", dependencies: ["EskerPlatform"], swiftSettings: shipped),
    .target(
      name: "EskerLog",
      dependencies: ["EskerIndex", "EskerFormat", "EskerPlatform", "CEskerShims"],
      swiftSettings: shipped
    ),
    .target(
      name: "EskerTools",
      dependencies: ["EskerLog", "EskerFormat", "EskerIndex", "EskerPlatform", "CEskerShims"],
      swiftSettings: shipped
    ),
    .target(name: "EskerUI", dependencies: ["Esker"], swiftSettings: shipped),
    .target(name: "EskerCBOR", swiftSettings: shipped),
    .target(
      name: "Esker",
      dependencies: ["EskerLog", "EskerMemory", "EskerCBOR", "EskerFormat", "EskerPlatform"],
      swiftSettings: shipped
    ),
    .target(
      name: "EskerRemote",
      dependencies: ["Esker", "EskerLog", "EskerMemory", "EskerFormat", "EskerPlatform"],
      swiftSettings: shipped
    ),
    .target(
      name: "EskerProtobuf",
      dependencies: [
        "Esker",
        .product(name: "SwiftProtobuf", package: "swift-protobuf", condition: .when(traits: ["Protobuf"])),
      ],
      swiftSettings: shipped
    ),
    .target(
      name: "EskerSwiftLog",
      dependencies: [
        "Esker",
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
      ],
      swiftSettings: shipped
    ),
    .target(
      name: "EskerMetrics",
      dependencies: [
        "Esker",
        .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
      ],
      swiftSettings: shipped
    ),
    .target(
      name: "EskerCrypto",
      dependencies: [
        "Esker", "EskerPlatform",
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Crypto"])),
      ],
      swiftSettings: shipped
    ),
    .target(
      name: "EskerRedis",
      dependencies: [
        "EskerRemote", "EskerLog", "EskerPlatform",
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Redis"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Redis"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Redis"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Redis"])),
        .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Redis"])),
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Redis"])),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Redis"])),
      ],
      swiftSettings: shipped
    ),
    .macro(
      name: "EskerMacrosPlugin",
      dependencies: [
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ],
      swiftSettings: shipped
    ),
    .target(
      name: "EskerMacros",
      dependencies: ["EskerCBOR", .target(name: "EskerMacrosPlugin", condition: .when(traits: ["Macros"]))],
      swiftSettings: shipped
    ),
    .executableTarget(
      name: "esker-index-benchmark",
      dependencies: ["EskerIndex", "EskerPlatform"],
      path: "Benchmarks/IndexBenchmark",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "esker-memory-benchmark",
      dependencies: ["EskerMemory", "EskerPlatform"],
      path: "Benchmarks/MemoryBenchmark",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "esker-typed-benchmark",
      dependencies: ["Esker", "EskerCBOR", "EskerMacros"],
      path: "Benchmarks/TypedBenchmark",
      swiftSettings: strict
    ),
    .target(
      name: "EskerTestSupport",
      dependencies: ["EskerPlatform"],
      path: "Tests/TestSupport",
      swiftSettings: strict
    ),
    .testTarget(
      name: "EskerPlatformTests",
      dependencies: ["EskerPlatform", "EskerTestSupport"],
      swiftSettings: strict
    ),
    // The code of EskerFormat that calls LZ4, by symbolic links, with the package's LZ4 on every platform: the tests compare both.
    .target(name: "CBundledLZ4", path: "Tests/CBundledLZ4"),
    .target(
      name: "EskerBundledLZ4",
      dependencies: ["CBundledLZ4"],
      path: "Tests/BundledLZ4",
      swiftSettings: shipped + [.define("BUNDLED_LZ4")]
    ),
    .testTarget(
      name: "EskerFormatTests",
      dependencies: ["EskerFormat", "EskerBundledLZ4", "CEskerShims"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "EskerIndexTests",
      dependencies: ["EskerIndex", "EskerPlatform", "EskerTestSupport"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "EskerMemoryTests",
      dependencies: ["EskerMemory", "EskerTestSupport"],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "esker-crash-writer",
      dependencies: ["EskerLog", "EskerPlatform", "EskerTestSupport"],
      path: "Tests/CrashWriter",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "esker-stress",
      dependencies: ["EskerLog", "EskerTools", "EskerPlatform", "EskerTestSupport"],
      path: "Tests/Stress",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "esker-damage",
      dependencies: ["EskerLog", "EskerTools", "EskerPlatform", "EskerTestSupport"],
      path: "Tests/DamageSweep",
      swiftSettings: strict
    ),
    .testTarget(
      name: "EskerLogTests",
      dependencies: [
        "EskerLog", "EskerTools", "EskerFormat", "EskerIndex", "EskerPlatform", "EskerTestSupport",
        "esker-crash-writer", "esker-damage",
      ],
      swiftSettings: strict
    ),
    .testTarget(name: "EskerCBORTests", dependencies: ["EskerCBOR"], swiftSettings: strict),
    .testTarget(
      name: "EskerTests",
      dependencies: ["Esker", "EskerCBOR", "EskerLog", "EskerPlatform", "EskerTestSupport"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "EskerRemoteTests",
      dependencies: ["EskerRemote", "Esker", "EskerLog", "EskerPlatform", "EskerTestSupport"],
      swiftSettings: strict
    ),
    .testTarget(name: "EskerUITests", dependencies: ["EskerUI"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)

// The interface for C. What it is written with came with Swift 6.3.
#if compiler(>=6.3)
  package.products.append(.library(name: "EskerC", type: .dynamic, targets: ["EskerC"]))
  package.targets += [
    // The header, and what no Swift is needed for.
    .target(name: "CEsker"),
    .target(name: "EskerC", dependencies: ["CEsker", "EskerLog", "EskerPlatform"], swiftSettings: shipped),
    // What its calls cost. Run it in release.
    .executableTarget(
      name: "esker-call-benchmark",
      dependencies: ["CEsker", "EskerC", "EskerLog"],
      path: "Benchmarks/CallBenchmark",
      swiftSettings: strict
    ),
  ]
#endif

// What only those need who work on Esker: the tool, and the tests of all products. It depends on packages that no user of the library
// shall fetch, so it is there only if the environment asks for it, as Tools/test and Tools/install do: `core` for the library and the
// tool, `all` also for what joins Esker to other libraries. All traits are on then: each module is built once.
if let development = Context.environment["ESKER_DEVELOPMENT"]?.split(separator: ",") {
  package.products.append(.executable(name: "esker", targets: ["esker-tool"]))
  package.dependencies.append(.package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"))
  package.targets += toolTargets
  if !development.contains("core") {
    package.traits.insert(.default(enabledTraits: ["Protobuf", "SwiftLog", "Metrics", "Crypto", "Redis", "Macros"]))
    package.targets += integrationTargets + cryptoTargets + redisTargets
  }

  // What no test needs.
  if development.contains("core") { package.targets.removeAll { $0.name.hasSuffix("-benchmark") } }

  // The only tests to build.
  if let tests = Context.environment["ESKER_TESTS"]?.split(separator: ",") {
    package.targets.removeAll { $0.type == .test && !tests.contains($0.name[...]) || $0.name == "esker-stress" }
  }

  // Tests run several times faster if what they spend their time in is optimized, in debug builds, too. All that is asserted there still
  // is. To optimize anything else takes longer than it saves, and tests may count on what the optimizer does not keep, such as a load that
  // nobody asks for, or an object until the end of its block. A module at once is compiled faster than its files one by one; with threads,
  // since SwiftPM expects an object of each file.
  if !development.contains("unoptimized") {
    let computing: Set = [
      "EskerPlatform", "EskerFormat", "EskerIndex", "EskerMemory", "EskerLog", "EskerCBOR", "EskerTestSupport",
    ]
    let flags = [
      "-O", "-disable-batch-mode", "-whole-module-optimization", "-num-threads", "2", "-assert-config", "Debug",
    ]
    let optimized = SwiftSetting.unsafeFlags(flags, .when(configuration: .debug))
    for target in package.targets where computing.contains(target.name) {
      target.swiftSettings = (target.swiftSettings ?? []) + [optimized]
    }
  }

  // For Tools/schedules. Wherever threads meet, they ask which of them goes on.
  if Context.environment["ESKER_SCHEDULES"] != nil {
    let meeting: Set = ["EskerPlatform", "EskerFormat", "EskerIndex", "EskerMemory", "EskerLog", "Esker"]
    package.targets += scheduleTargets
    for target in package.targets where meeting.contains(target.name) {
      target.swiftSettings = (target.swiftSettings ?? []) + [.define("SCHEDULES")]
    }
    // Records are published by atomics, too.
    for target in package.targets where target.name == "EskerFormat" { target.dependencies.append("EskerPlatform") }
  }

  // For Tools/fuzz, which says where libFuzzer is. It needs to see which branches are taken, of whatever decodes.
  if let library = Context.environment["ESKER_LIBFUZZER"] {
    let decoding: Set = [
      "EskerPlatform", "EskerFormat", "EskerIndex", "EskerLog", "EskerTools", "EskerCBOR", "WireCode", "esker-fuzz",
    ]
    package.targets += fuzzTargets
    for target in package.targets where decoding.contains(target.name) {
      target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=fuzzer,address"])]
    }
    for target in package.targets where target.name == "CEskerShims" || target.name == "CEskerLZ4" {
      target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-fsanitize=fuzzer-no-link,address"])]
    }
    for target in package.targets where target.name == "esker-fuzz" {
      // The library without a function `main`; it is written in C++.
      // By lld: gold warns of each function of the sanitizer that it knows only there.
      target.linkerSettings = [
        .unsafeFlags(["-sanitize=address", library, "-lstdc++"]),
        .unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux])),
      ]
    }
  }
}
