import Foundation

/// A control group that limits this process's memory, pages of files included. Linux only, and only where one may be made.
struct MemoryGroup {
  private let directory: String
  private let root: String

  /// The directory of the groups for memory, and the name of the file with the limit, in both versions of the interface.
  private static let places = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]

  /// Whether a group can be made here.
  static let isAvailable: Bool = {
    guard let group = try? MemoryGroup(bytes: 1 << 30) else { return false }
    group.remove()
    return true
  }()

  private init(directory: String, root: String) {
    self.directory = directory
    self.root = root
  }

  private init(bytes: Int) throws {
    for (root, limit) in Self.places {
      let directory = "\(root)/esker-benchmark-\(getpid())"
      try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
      if Self.write("\(bytes)", to: "\(directory)/\(limit)") {
        self = MemoryGroup(directory: directory, root: root)
        return
      }
      rmdir(directory)
    }
    throw BenchmarkError.limit(workload: "control group for memory", errno: errno)
  }

  /// Limits this process while the body runs.
  static func limiting<R>(toBytes bytes: Int, _ body: () throws -> R) throws -> R {
    guard bytes > 0 else { return try body() }
    let group = try MemoryGroup(bytes: bytes)
    defer { group.remove() }
    guard write("\(getpid())", to: "\(group.directory)/cgroup.procs") else {
      throw BenchmarkError.limit(workload: "control group for memory", errno: errno)
    }
    return try body()
  }

  private func remove() {
    _ = Self.write("\(getpid())", to: "\(root)/cgroup.procs")
    rmdir(directory)
  }

  private static func write(_ text: String, to path: String) -> Bool {
    let descriptor = open(path, O_WRONLY)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return text.utf8.withContiguousStorageIfAvailable { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      == text.utf8.count
  }
}
