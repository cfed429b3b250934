// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// Other engines are measured where their headers are; `Benchmarks/run` installs them.
let roots = ["/usr", "/usr/local", "/opt/homebrew"]

func isInstalled(_ header: String) -> Bool {
  #if os(macOS)
    if header == "sqlite3.h" { return true }
  #endif
  return roots.contains { FileManager.default.fileExists(atPath: $0 + "/include/" + header) }
}

let peers = [
  (define: "PEER_ROCKSDB", header: "rocksdb/db.h", library: "rocksdb"),
  (define: "PEER_LEVELDB", header: "leveldb/db.h", library: "leveldb"),
  (define: "PEER_LMDB", header: "lmdb.h", library: "lmdb"),
  (define: "PEER_TKRZW", header: "tkrzw_dbm_hash.h", library: "tkrzw"),
  (define: "PEER_KYOTO", header: "kchashdb.h", library: "kyotocabinet"),
  (define: "PEER_SQLITE", header: "sqlite3.h", library: "sqlite3"),
].filter { isInstalled($0.header) }

/// GRDB is built on SQLite.
let hasGRDB = peers.contains { $0.define == "PEER_SQLITE" }

let homebrew = FileManager.default.fileExists(atPath: "/opt/homebrew/include")

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
  ] + (hasGRDB ? [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")] : []),
  targets: [
    .target(name: "CLimits"),
    .target(
      name: "CPeers",
      cxxSettings: peers.map { .define($0.define) } + (homebrew ? [.unsafeFlags(["-I/opt/homebrew/include"])] : []),
      linkerSettings: peers.map { .linkedLibrary($0.library) }
        + (homebrew ? [.unsafeFlags(["-L/opt/homebrew/lib"])] : [])
    ),
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
        "CPeers",
        "CacheTraces",
        .product(name: "Esker", package: "Esker"),
        .product(name: "EskerLog", package: "Esker"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ] + (hasGRDB ? [.product(name: "GRDB", package: "GRDB.swift")] : []),
      swiftSettings: [.treatAllWarnings(as: .error)] + (hasGRDB ? [.define("PEER_GRDB")] : [])
    ),
    .executableTarget(
      name: "CodableBenchmark",
      dependencies: [.product(name: "EskerCBOR", package: "Esker")],
      swiftSettings: [.treatAllWarnings(as: .error)]
    ),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu11,
  cxxLanguageStandard: .cxx17
)
