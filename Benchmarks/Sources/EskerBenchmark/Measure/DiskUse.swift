import EskerLog
import Foundation

/// The disk space used by a store's files, according to the file system rather than the store.
enum DiskUse {
  /// The bytes allocated for the files in a directory, except those with certain suffixes.
  static func bytes(at path: String, without suffixes: [String] = []) throws -> Int {
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return names.filter { name in !suffixes.contains(where: name.hasSuffix) }.reduce(0) {
      $0 + allocated(path + "/" + $1)
    }
  }

  /// The bytes of a store's files, including removed files still in use.
  static func bytes(of store: LogStore) throws -> Int {
    try bytes(at: store.path) + store.statistics.pinnedBytes
  }

  /// 0 for a file that has been removed meanwhile.
  private static func allocated(_ path: String) -> Int {
    var status = stat()
    return lstat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }
}

/// The disk use of a store, sampled over time.
struct DiskTimeline {
  private(set) var samples: [(operation: Int, bytes: Int)] = []

  mutating func add(_ operation: Int, _ bytes: Int) {
    samples.append((operation, bytes))
  }

  /// The maximum.
  var most: Int { samples.map(\.bytes).max() ?? 0 }

  /// The maximum after a share of the operations.
  func most(from share: Double) -> Int {
    let first = Double(samples.last?.operation ?? 0) * share
    return samples.filter { Double($0.operation) >= first }.map(\.bytes).max() ?? 0
  }
}
