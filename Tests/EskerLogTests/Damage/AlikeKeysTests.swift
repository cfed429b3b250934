import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Keys that the index cannot tell apart. As the records decide, damage to that of one must not hide the other.
@Suite struct AlikeKeysTests {
  private let machine = Machine()
  private let store: LogStore
  private let first: [UInt8]
  private let second: [UInt8]

  init() throws {
    store = try machine.open { $0.merge.isAutomatic = false }
    (first, second) = store.probe.alikeKeys()
  }

  /// Flips a bit in the header of a key's record.
  private func damageRecord(of key: [UInt8], _ value: [UInt8]) throws {
    let tail = try #require(store.probe.tail)
    let place = try #require(tail.offset(of: key + value))
    let byte = place - RecordLayout.headerLength + 9
    tail.store(UInt8(truncatingIfNeeded: tail.word(at: byte - 1) >> 8) ^ 4, at: byte)
  }

  @Test func eachHasItsOwnValue() throws {
    try store.put("first", forKey: first)
    try store.put("second", forKey: second)
    #expect(try store.get([first, second]) == [bytes("first"), bytes("second")])
    try store.remove(first)
    #expect(try store.get(first) == nil)
    #expect(try store.get(second) == bytes("second"))
  }

  @Test(arguments: [true, false], [Expiry.never, .after(.seconds(10))])
  func damageToOneHidesNothingOfTheOther(isFirst: Bool, _ expiry: Expiry) throws {
    try store.put("first", forKey: first, expiry: expiry)
    try store.put("second", forKey: second, expiry: expiry)
    let (damaged, other) = isFirst ? (first, second) : (second, first)
    try damageRecord(of: damaged, bytes(isFirst ? "first" : "second"))
    let value = bytes(isFirst ? "second" : "first")
    #expect(try store.get(other) == value)
    #expect(try store.get([other]) == [value])
    #expect(try store.metadata(forKey: other) != nil)
    #expect {
      _ = try store.get(damaged)
    } throws: { error in
      guard case StoreError.damaged = error else { return false }
      return true
    }
    guard expiry != .never else { return }
    machine.clock.advance(milliseconds: 10_000)
    #expect(try store.get(other) == nil)
  }
}
