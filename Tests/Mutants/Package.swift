// swift-tools-version: 6.2
import PackageDescription

// A package of its own: the library is built without swift-syntax.
let package = Package(
  name: "Mutants",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"604.0.0")],
  targets: [
    .executableTarget(
      name: "esker-mutants",
      dependencies: [
        .product(name: "SwiftOperators", package: "swift-syntax"),
        .product(name: "SwiftParser", package: "swift-syntax"),
        .product(name: "SwiftSyntax", package: "swift-syntax"),
      ],
      path: "Sources",
      swiftSettings: [.treatAllWarnings(as: .error)]
    ),
    .testTarget(
      name: "MutantTests",
      dependencies: ["esker-mutants", .product(name: "SwiftParser", package: "swift-syntax")],
      path: "Tests",
      swiftSettings: [.treatAllWarnings(as: .error)]
    ),
  ],
  swiftLanguageModes: [.v6]
)
