import Testing

@testable import EskerLog

/// Which keys were read, by one bit each.
struct ReadMarksTests {
  @Test(arguments: [(0, 4096), (2 << 20, 4096), (3 << 20, 8192), (1 << 30, 2 << 20), (1 << 50, 1 << 30)])
  func theyTakeA512thOfTheCapacityRoundedUpToAPowerOfTwo(capacity: Int, length: Int) {
    #expect(ReadMarks.length(for: capacity) == length)
  }

  @Test func eachHashHasABitOfItsOwn() throws {
    let marks = ReadMarks(capacity: 0)
    defer { marks.deallocate() }
    let hashes = 0..<UInt64(4096 * 8)
    for hash in hashes {
      try #require(!marks.has(hash))
      marks.set(hash)
      try #require(marks.has(hash))
    }
    // Those above share them.
    #expect(marks.has(4096 * 8 + 5))
    for hash in hashes {
      try #require(marks.take(hash))
      try #require(!marks.take(hash))
      try #require(!marks.has(hash))
    }
  }
}
