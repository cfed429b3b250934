import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What others do to a store's files while it is open: errors with types, never the end of the process.
@Suite struct OutsideInterferenceTests {
  let directory: TemporaryDirectory
  let path: String
  let store: LogStore

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.appending("store")
    var options = Options()
    options.segmentSize = 64 << 10
    store = try LogStore(at: path, options: options)
  }

  private func fill(_ count: Int) throws {
    for number in 0..<count { try store.put([UInt8](repeating: 1, count: 1000), forKey: "key \(number)") }
  }

  private func segments() throws -> [String] {
    try OSFileSystem().list(path).filter { $0.hasSuffix(".segment") }.sorted().map { "\(path)/\($0)" }
  }

  /// Writes until the store refuses; the error it refused with.
  private func firstRefusal() -> StoreError? {
    for number in 0..<2000 {
      do throws(StoreError) {
        try store.put([UInt8](repeating: 2, count: 1000), forKey: "more \(number)")
      } catch {
        return error
      }
    }
    return nil
  }

  @Test func aRemovedDirectoryIsNoticedAtTheSync() throws {
    try fill(10)
    for name in try OSFileSystem().list(path) { try OSFileSystem().remove("\(path)/\(name)") }
    rmdir(path)
    #expect(try store.get("key 3") != nil)
    #expect(throws: StoreError.self) { try store.sync() }
    #expect(throws: StoreError.self) { try store.put("v", forKey: "k") }
    try? store.close()
  }

  @Test func aRemovedDirectoryIsNoticedAtTheRotation() throws {
    try fill(10)
    for name in try OSFileSystem().list(path) { try OSFileSystem().remove("\(path)/\(name)") }
    rmdir(path)
    #expect(firstRefusal() != nil)
    #expect(try store.get("key 3") != nil)
    #expect(throws: StoreError.self) { try store.close() }
  }

  @Test func aSegmentThatIsReplacedIsNoticedAtTheSync() throws {
    try fill(10)
    let segment = try #require(try segments().first)
    let other = directory.appending("other")
    let file = try OSFileSystem().open(other, .create)
    try file.writeAll([UInt8](repeating: 0xAB, count: 100_000), at: 0)
    file.close()
    try OSFileSystem().rename(other, to: segment)
    #expect(try store.get("key 3") != nil)
    #expect(throws: StoreError.self) { try store.sync() }
    try? store.close()
    // Nothing had been durable, so all may be lost; nothing may be wrong.
    let again = try? LogStore(at: path)
    for number in 0..<10 {
      let value = try? again?.get("key \(number)")
      #expect(value == nil)
    }
  }

  @Test func aSealedSegmentCutShortMakesItsRecordsDamagedAndNoOthers() throws {
    try fill(200)
    // The background may not have come to it yet, and a sync of a file that was cut short fails for good.
    store.probe.sealFinished()
    let first = try #require(try segments().first)
    truncate(first, 8192)
    var damaged = 0
    for number in 0..<200 {
      do throws(StoreError) {
        #expect(try store.get("key \(number)")?.count == 1000)
      } catch {
        guard case .damaged(let location, _) = error else { throw error }
        #expect(location.path == first)
        damaged += 1
      }
    }
    #expect(damaged > 20)
    #expect(damaged < 70)
    #expect(try !store.verify().isClean)
    // Writing a damaged key again heals it.
    for number in 0..<200 { try store.put("new", forKey: "key \(number)") }
    for number in 0..<200 { #expect(try store.get("key \(number)") == bytes("new")) }
  }

  @Test func aTailCutShortFailsGetsAndPutsWithTypes() throws {
    try fill(20)
    let tail = try #require(try segments().first)
    truncate(tail, 4096)
    var damaged = 0
    for number in 0..<20 {
      do throws(StoreError) {
        #expect(try store.get("key \(number)")?.count == 1000)
      } catch {
        guard case .damaged = error else { throw error }
        damaged += 1
      }
    }
    #expect(damaged >= 15)
    #expect(firstRefusal() != nil)
    #expect(throws: StoreError.self) { try store.sync() }
    try? store.close()
  }

  @Test func anEmptiedTailIsNoticedByTheFirstPut() throws {
    try fill(20)
    truncate(try #require(try segments().first), 0)
    #expect(firstRefusal() != nil)
    #expect(throws: StoreError.self) { try store.get("key 1") }
    try? store.close()
  }
}
