import EskerPlatform
import EskerTestSupport
import Foundation
import Testing

@Suite struct PageCacheTests {
  #if os(Linux)
    /// The files of a machine, by path below its root.
    private func room(_ files: [String: String]) throws -> Int? {
      let root = try TemporaryDirectory()
      for (path, text) in files {
        let url = URL(fileURLWithPath: root.appending(path))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
      }
      return PageCache.room(root: root.path)
    }

    private func expect(_ room: Int?, _ files: [String: String], total: Int = 16_000_000) throws {
      let memory = ["proc/meminfo": "MemTotal:  \(total) kB\nMemFree: 10 kB\nMemAvailable:    8000 kB\n"]
      #expect(try self.room(files.merging(memory) { $1 }) == room, "\(files)")
    }

    @Test func nothingIsKnownWithoutTheSystemsFiles() throws {
      #expect(try room([:]) == nil)
      #expect(try room(["proc/meminfo": "MemTotal: 1 kB"]) == nil)
      #expect(try room(["proc/meminfo": "MemAvailable: many kB"]) == nil)
    }

    @Test func withoutGroupsItIsWhatTheMachineHas() throws {
      try expect(8_000 << 10, [:])
      try expect(8_000 << 10, ["proc/self/cgroup": "0::/"])
      try expect(8_000 << 10, ["proc/self/cgroup": "nonsense\n\n1:cpu:/a\n"])
    }

    @Test func theTightestGroupCounts() throws {
      let group = "sys/fs/cgroup/a/b"
      let outer = "sys/fs/cgroup/a"
      let stat = "anon 7\nfile 9000\ninactive_file 1000\nactive_file 2000\n"
      // 3000 of the 5000 in use are files.
      try expect(
        4_000,
        [
          "proc/self/cgroup": "0::/a/b\n", "\(group)/memory.max": "6000\n", "\(group)/memory.current": "5000\n",
          "\(group)/memory.stat": stat,
        ]
      )
      try expect(
        2_500,
        [
          "proc/self/cgroup": "0::/a/b\n", "\(group)/memory.max": "max\n", "\(group)/memory.current": "5000\n",
          "\(group)/memory.stat": stat, "\(outer)/memory.max": "max", "\(outer)/memory.high": "4500",
          "\(outer)/memory.current": "5000", "\(outer)/memory.stat": stat,
        ]
      )
      try expect(
        0,
        [
          "proc/self/cgroup": "0::/a/b\n", "\(group)/memory.max": "1000", "\(group)/memory.current": "5000",
          "\(group)/memory.stat": stat,
        ]
      )
    }

    /// A group that may use what the machine has is not asked what it uses.
    @Test func aLimitBeyondTheMachinesMemoryIsNone() throws {
      let files = [
        "proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.current": "16383999999",
        "sys/fs/cgroup/memory.stat": "anon 7\n",
      ]
      try expect(1, files.merging(["sys/fs/cgroup/memory.max": "16384000000"]) { $1 }, total: 16_000_001)
      try expect(8_000 << 10, files.merging(["sys/fs/cgroup/memory.max": "16384000000"]) { $1 })
      try expect(8_000 << 10, files.merging(["sys/fs/cgroup/memory.max": "99999999999999999999999"]) { $1 })
    }

    @Test func theOlderInterfaceIsReadToo() throws {
      let stat = "cache 9000\ninactive_file 1\nactive_file 1\ntotal_inactive_file 1000\ntotal_active_file 2000\n"
      let membership = "5:devices:/\n4:memory,cpu:/x/y\n0::/\n"
      let memory = "sys/fs/cgroup/memory"
      try expect(
        4_000,
        [
          "proc/self/cgroup": membership, "\(memory)/x/y/memory.limit_in_bytes": "6000\n",
          "\(memory)/x/y/memory.usage_in_bytes": "5000\n", "\(memory)/x/y/memory.stat": stat,
        ]
      )
      // In a container the path is the host's, and the mount shows the container's group alone.
      try expect(
        4_000,
        [
          "proc/self/cgroup": membership, "\(memory)/memory.limit_in_bytes": "6000\n",
          "\(memory)/memory.usage_in_bytes": "5000\n", "\(memory)/memory.stat": stat,
        ]
      )
      try expect(
        8_000 << 10,
        [
          "proc/self/cgroup": membership, "\(memory)/memory.limit_in_bytes": "9223372036854771712\n",
          "\(memory)/memory.usage_in_bytes": "5000\n", "\(memory)/memory.stat": stat,
        ]
      )
    }
  #endif

  @Test func thisMachineHasRoom() throws {
    #expect(try #require(PageCache.room()) > 1 << 20)
  }

  @Test func pagesAreFetchedAndLetGo() throws {
    let directory = try TemporaryDirectory()
    let pages = 100 * MemoryPage.size
    let system = OSFileSystem()
    try system.create(directory.appending("file"), filled(7, pages), synced: true)
    let mapping = try system.open(directory.appending("file"), .read).map(capacity: pages, writable: false)
    try mapping.extend(to: pages)
    mapping.setReadAhead(false)
    for page in 0..<100 { #expect(mapping[page * MemoryPage.size] == 7) }
    #expect(mapping.residentBytes(in: 0..<pages) == pages)
    #expect(PageCache.holds(mapping.base, byteCount: pages))
    mapping.letGo(0..<pages)
    // A hint: some systems and file systems keep them.
    let kept = mapping.residentBytes(in: 0..<pages)
    guard kept < pages / 2 else { return }
    #expect(!PageCache.holds(mapping.base, byteCount: pages))
    #expect(PageCache.holds(mapping.base, byteCount: 1) == (mapping.residentBytes(in: 0..<1) > 0))
    mapping.fetch(10..<pages - 10)
    #expect(eventually { mapping.residentBytes(in: 0..<pages) == pages })
    #expect(mapping[pages - 1] == 7)
    mapping.setReadAhead(true)
    mapping.unmap()
    mapping.setReadAhead(false)
    mapping.fetch(0..<pages)
    mapping.letGo(0..<pages)
  }
}
