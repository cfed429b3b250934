import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A path that a caller gives means what it means at the call, wherever the process goes afterwards. The working directory is the
/// whole process's, so these tests run in processes of their own.
@Suite(.timeLimit(.minutes(60))) struct WorkingDirectoryTests {
  /// Runs a body with the directories `here`, which it begins in, and `elsewhere`, which is empty.
  private static func inTwoDirectories(_ body: (_ here: String, _ elsewhere: String) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    let (here, elsewhere) = (directory.appending("here"), directory.appending("elsewhere"))
    for path in [here, elsewhere] { try OSFileSystem().createDirectory(path) }
    #expect(chdir(here) == 0)
    try body(try OSFileSystem().workingDirectory(), elsewhere)
    #expect(chdir("/") == 0)
  }

  private static var options: Options {
    var options = Options()
    options.segmentSize = 64 << 10
    return options
  }

  /// Writes enough for several segments, and overwrites most of it.
  private static func write(to store: LogStore, _ mark: UInt8) throws {
    for number in 0..<300 {
      try store.put([UInt8](repeating: mark, count: 4_000), forKey: "key \(number % 40)")
    }
  }

  @Test func aStoreGoesOnWhereItWasOpened() async {
    await #expect(processExitsWith: .success) {
      try Self.inTwoDirectories { here, elsewhere in
        let store = try LogStore(at: "store", options: Self.options)
        #expect(store.path == "\(here)/store")
        try Self.write(to: store, 1)
        #expect(chdir(elsewhere) == 0)
        try Self.write(to: store, 2)
        _ = try store.keyspace("new")
        try store.merge()
        #expect(try store.verify().isClean)
        try store.backup(to: "backup", reusing: nil)
        try store.close()
        #expect(try OSFileSystem().list(elsewhere) == ["backup"])
        #expect(try LogStore(at: "backup").get("key 7") == [UInt8](repeating: 2, count: 4_000))
        let again = try LogStore(at: "\(here)/store", options: Self.options)
        #expect(try again.get("key 7") == [UInt8](repeating: 2, count: 4_000))
        #expect(try again.verify().isClean)
      }
    }
  }

  @Test func aStoreOfTheSameNameElsewhereStaysAlone() async {
    await #expect(processExitsWith: .success) {
      try Self.inTwoDirectories { here, elsewhere in
        let other = try LogStore(at: "\(elsewhere)/store", options: Self.options)
        try other.put("other", forKey: "k")
        let files = try OSFileSystem().list("\(elsewhere)/store").sorted()
        let store = try LogStore(at: "./store", options: Self.options)
        #expect(chdir(elsewhere) == 0)
        try Self.write(to: store, 1)
        #expect(throws: StoreError.locked(path: "\(here)/./store", holder: getpid())) {
          #expect(chdir(here) == 0)
          defer { #expect(chdir(elsewhere) == 0) }
          _ = try LogStore(at: "./store")
        }
        try store.close()
        #expect(try OSFileSystem().list("\(elsewhere)/store").sorted() == files)
      }
    }
  }

  @Test func aReaderFollowsItsWriterFromAnywhere() async {
    await #expect(processExitsWith: .success) {
      try Self.inTwoDirectories { _, elsewhere in
        let store = try LogStore(at: "store", options: Self.options)
        try store.put("v", forKey: "k")
        var options = Self.options
        options.readOnly = true
        let reader = try LogStore(at: "store", options: options)
        #expect(chdir(elsewhere) == 0)
        try Self.write(to: store, 1)
        try store.merge()
        try reader.refresh()
        #expect(try reader.get("key 7") == [UInt8](repeating: 1, count: 4_000))
      }
    }
  }

  @Test func aPathThroughALinkAndItsParentIsLeftToTheSystem() async {
    await #expect(processExitsWith: .success) {
      try Self.inTwoDirectories { here, elsewhere in
        try OSFileSystem().createDirectory("\(elsewhere)/inner")
        #expect(symlink("\(elsewhere)/inner", "\(here)/link") == 0)
        // The parent of where the link leads, and not the directory that the link is in.
        let store = try LogStore(at: "link/../store")
        try store.put("v", forKey: "k")
        #expect(chdir("/") == 0)
        try store.close()
        #expect(try OSFileSystem().status("\(elsewhere)/store") != nil)
        #expect(try OSFileSystem().status("\(here)/store") == nil)
      }
    }
  }

  @Test func whatWorksOnTheFilesOfAStoreKeepsToThem() async {
    await #expect(processExitsWith: .success) {
      try Self.inTwoDirectories { here, elsewhere in
        let store = try LogStore(at: "store", options: Self.options)
        try Self.write(to: store, 3)
        try store.close()
        func leave(_ share: Double) -> Bool { chdir(elsewhere) == 0 }
        let report = try LogStore.salvage(from: "store", to: "salvaged", progress: leave)
        #expect(report.losses.isEmpty)
        #expect(chdir(here) == 0)
        try LogStore.restore(from: "store", to: "restored", copying: true, progress: leave)
        #expect(chdir(here) == 0)
        let source = try LogStore(at: "store")
        try source.backup(to: "backup", reusing: nil, copying: true, progress: leave)
        #expect(chdir(here) == 0)
        try source.backup(to: "next", reusing: "backup", progress: leave)
        try source.close()
        #expect(chdir(here) == 0)
        let inspection = try StoreInspection(at: "store")
        #expect(inspection.path == "\(here)/store")
        #expect(chdir(elsewhere) == 0)
        #expect(try inspection.versions(of: bytes("key 7"), in: "").isEmpty == false)
        #expect(try OSFileSystem().list(elsewhere).isEmpty)
        for copy in ["salvaged", "restored", "backup", "next"] {
          #expect(try LogStore(at: "\(here)/\(copy)").get("key 7") == [UInt8](repeating: 3, count: 4_000))
        }
      }
    }
  }

  @Test func aDirectoryThatIsGoneIsNamedAsSuch() async {
    await #expect(processExitsWith: .success) {
      try Self.inTwoDirectories { _, elsewhere in
        #expect(chdir(elsewhere) == 0)
        try OSFileSystem().removeDirectory(elsewhere)
        #expect(
          throws: StoreError.failed(
            operation: "find the working directory for",
            path: "store",
            errno: PlatformError.notFound
          )
        ) {
          try LogStore(at: "store")
        }
      }
    }
  }

  @Test func anEmptyPathNamesNoStore() throws {
    let machine = Machine()
    #expect(throws: StoreError.self) {
      try LogStore(at: "", options: machine.options(), host: StoreHost(platform: .system, background: .inline))
    }
  }

  @Test func theSimulatedDiskHasAWorkingDirectoryToo() throws {
    let machine = Machine()
    try machine.disk.createDirectory("/home")
    machine.disk.changeDirectory(to: "/home")
    let store = try LogStore(at: "store", options: machine.options(), host: machine.host)
    #expect(store.path == "/home/store")
    machine.disk.changeDirectory(to: "/")
    try Self.write(to: store, 1)
    try store.close()
    #expect(try machine.disk.list("/") == ["home"])
  }
}
