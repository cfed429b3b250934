import EskerLog
import Foundation

/// What the files of a store take on the disk, asked of the file system and not of the store.
enum DiskUse {
  /// Bytes allocated for the files of a directory but for those whose names end like that.
  static func bytes(at path: String, without suffixes: [String] = []) throws -> Int {
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return names.filter { name in !suffixes.contains(where: name.hasSuffix) }.reduce(0) {
      $0 + allocated(path + "/" + $1)
    }
  }

  /// Those of a store's files, and those of files that are removed but still in use.
  static func bytes(of store: LogStore) throws -> Int {
    try bytes(at: store.path) + store.statistics.pinnedBytes
  }

  /// 0 for a file that has gone meanwhile.
  private static func allocated(_ path: String) -> Int {
    var status = stat()
    return lstat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }
}

/// The disk use of a store, looked at now and then.
struct DiskTimeline {
  private(set) var samples: [(operation: Int, bytes: Int)] = []

  mutating func add(_ operation: Int, _ bytes: Int) {
    samples.append((operation, bytes))
  }

  /// The most there ever was.
  var most: Int { samples.map(\.bytes).max() ?? 0 }

  /// The most after a share of the operations.
  func most(from share: Double) -> Int {
    let first = Double(samples.last?.operation ?? 0) * share
    return samples.filter { Double($0.operation) >= first }.map(\.bytes).max() ?? 0
  }
}
