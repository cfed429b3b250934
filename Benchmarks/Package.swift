// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "esker-benchmark", targets: ["EskerBenchmark"]),
    .executable(name: "codable-benchmark", targets: ["CodableBenchmark"]),
  ],
  dependencies: [
    .package(name: "Esker", path: ".."),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    .target(name: "CLimits"),
    // Also part of the memory front's benchmark, which is built with Esker itself.
    .target(
      name: "CacheTraces",
      path: "MemoryBenchmark/Traces",
      swiftSettings: [.treatAllWarnings(as: .error)]
    ),
    .executableTarget(
      name: "EskerBenchmark",
      dependencies: [
        "CLimits",
        "CacheTraces",
        .product(name: "EskerLog", package: "Esker"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]
    ),
    .executableTarget(
      name: "CodableBenchmark",
      dependencies: [.product(name: "EskerCBOR", package: "Esker")],
      swiftSettings: [.treatAllWarnings(as: .error)]
    ),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu11
)
