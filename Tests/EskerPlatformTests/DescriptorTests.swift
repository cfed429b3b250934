import EskerTestSupport
import Synchronization
import Testing

@testable import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Files that rest, when there are more than half as many as the process may have open.
@Suite struct DescriptorTests {
  /// How many files may be opened.
  static let room = 50

  /// A hundred files that rest, each with its number in it, of which some have no descriptor.
  private static func crowd(_ directory: TemporaryDirectory, mode: OpenMode = .readWrite) throws -> [any File] {
    let files = OSFileSystem()
    return try (0..<100).map { number in
      let path = directory.appending("\(number)")
      try files.create(path, filled(UInt8(number), 5000))
      let file = try files.open(path, mode)
      file.rest()
      return file
    }
  }

  @Test func restingFilesKeepToHalfOfTheDescriptorsAndServeAllCalls() async {
    await #expect(processExitsWith: .success) {
      let limit = try FileLimit.leave(Self.room)
      let directory = try TemporaryDirectory()
      let files = try Self.crowd(directory)
      func expectUpperHalfFree() throws {
        let used = try FileLimit.descriptors(of: directory, below: limit)
        #expect(used.allSatisfy { $0 < limit / 2 }, "\(used)")
      }
      try expectUpperHalfFree()
      for (number, file) in files.enumerated() {
        let byte = UInt8(number)
        #expect(try file.status() == FileStatus(kind: .file, size: 5000, linkCount: 1))
        #expect(try file.bytes(4990..<6000) == filled(byte, 10))
        let mapping = try file.map(capacity: 9000, writable: true)
        try mapping.extend(to: 5000)
        try file.write([9], at: 8999)
        try mapping.extend(to: 9000)
        mapping[0] = 77
        try file.sync()
        #expect([mapping[0], mapping[1], mapping[8999]] == [77, byte, 9])
        #expect(try file.bytes(0..<2) == [77, byte])
        mapping.unmap()
        try file.truncate(100)
        try file.reserve(200)
        #expect(try file.status().size == 200)
        try expectUpperHalfFree()
      }
      for file in files { file.close() }
      #expect(try FileLimit.descriptors(of: directory, below: limit) == [])
      #expect(files.allSatisfy { file in errorCode { _ = try file.status() } == EBADF })
    }
  }

  @Test func whereThereAreManyDescriptorsEachFileKeepsItsOwn() async {
    await #expect(processExitsWith: .success) {
      let limit = try FileLimit.leave(1000)
      let directory = try TemporaryDirectory()
      let files = try Self.crowd(directory)
      let used = try FileLimit.descriptors(of: directory, below: limit)
      #expect(used.count == files.count)
      for file in files { #expect(try file.bytes(0..<1).count == 1) }
      #expect(try FileLimit.descriptors(of: directory, below: limit) == used)
    }
  }

  @Test func whatIsMappedStaysWhenTheFileIsRemovedOrReplaced() async {
    await #expect(processExitsWith: .success) {
      try FileLimit.leave(Self.room)
      let directory = try TemporaryDirectory()
      let files = try Self.crowd(directory, mode: .read)
      let removed = files[98]
      let replaced = files[99]
      let mappings = try [removed, replaced].map { file in
        let mapping = try file.map(capacity: 5000, writable: false)
        try mapping.extend(to: 5000)
        return mapping
      }
      try OSFileSystem().remove(removed.path)
      try OSFileSystem().remove(replaced.path)
      try OSFileSystem().create(replaced.path, filled(1, 5000))
      #expect(errorCode { _ = try removed.bytes(0..<1) } == ENOENT)
      #expect(errorCode { _ = try removed.status() } == ENOENT)
      #expect(errorCode { _ = try replaced.bytes(0..<1) } == ESTALE)
      #expect(errorCode { _ = try replaced.status() } == ESTALE)
      #expect(mappings.map { $0[4999] } == [98, 99])
      #expect(try files[97].bytes(0..<1) == [97])
    }
  }

  @Test func withoutADescriptorACallFailsAndTheNextOneNeedNot() async {
    await #expect(processExitsWith: .success) {
      try FileLimit.leave(Self.room)
      let directory = try TemporaryDirectory()
      let file = try #require(try Self.crowd(directory).last)
      // The others are closed with the list, so there is room up to the limit: none may be left.
      var others: [any File] = []
      while let other = try? OSFileSystem().open(directory.appending("0"), .read) { others.append(other) }
      #expect(errorCode { _ = try file.bytes(0..<1) } == EMFILE)
      #expect(try file.status().size == 5000)
      others = []
      #expect(try file.bytes(0..<1) == [99])
    }
  }

  @Test func callsOfManyThreadsMeetTheRightFile() async {
    await #expect(processExitsWith: .success) {
      let limit = try FileLimit.leave(Self.room)
      let directory = try TemporaryDirectory()
      let files = try Self.crowd(directory, mode: .read)
      let wrong = Atomic<Int>(0)
      let threads = try (0..<4).map { thread in
        try WorkerThread(name: "reader") {
          var generator = SeededGenerator(seed: UInt64(thread))
          for _ in 0..<5_000 {
            let number = Int.random(in: 0..<files.count, using: &generator)
            let isRight =
              Bool.random(using: &generator)
              ? (try? files[number].bytes(0..<2)) == filled(UInt8(number), 2)
              : (try? files[number].status().size) == 5000
            if !isRight { wrong.add(1, ordering: .relaxed) }
          }
        }
      }
      for thread in threads { thread.join() }
      #expect(wrong.load(ordering: .relaxed) == 0)
      for file in files { file.close() }
      #expect(try FileLimit.descriptors(of: directory, below: limit) == [])
    }
  }

  @Test func theSoftLimitIsRaisedToTheHardOne() async {
    await #expect(processExitsWith: .success) {
      let limit = try FileLimit.leave(Self.room)
      #expect(DescriptorLimit.current == limit)
      DescriptorLimit.raise()
      #expect(DescriptorLimit.current > limit)
      #if !canImport(Darwin)
        #expect(DescriptorLimit.current == Int(clamping: try ResourceLimit.openFiles.current().rlim_max))
      #endif
    }
  }
}
