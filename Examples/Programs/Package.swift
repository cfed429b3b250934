// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as yours is. There the dependency is the address of the repository.
let package = Package(
  name: "esker-programs",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Esker", path: "../..")],
  targets: ["Crawler", "Counters", "Jobs", "Settings", "Search", "Thumbnails"].map { folder in
    .executableTarget(
      name: folder.lowercased(),
      dependencies: [.product(name: "Esker", package: "Esker")],
      path: "Sources/\(folder)",
      exclude: ["README.md"],
      swiftSettings: [.treatAllWarnings(as: .error)]
    )
  },
  swiftLanguageModes: [.v6]
)
