import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

@Suite struct KeyVersionTests {
  private func versions(_ machine: Machine, _ key: String, in keyspace: String = "") throws -> [KeyVersion] {
    try StoreInspection(at: machine.path, host: machine.host).versions(of: bytes(key), in: keyspace)
  }

  @Test func newestComesFirstAndOlderOnesFollow() throws {
    let machine = Machine()
    let store = try machine.open()
    for text in ["one", "two", "three"] { try store.put(text, forKey: "key") }
    try store.put("other", forKey: "other")
    let found = try versions(machine, "key")
    #expect(found.map(\.standing) == [.current, .superseded, .superseded])
    #expect(found.map(\.record.valueLength) == [5, 3, 3])
    #expect(found.map(\.record.sequence.rawValue) == [3, 2, 1])
    try store.remove("key")
    #expect(try versions(machine, "key").map(\.standing) == [.deletes, .superseded, .superseded, .superseded])
    #expect(try versions(machine, "never").isEmpty)
    try store.close()
  }

  @Test func expiredAndEmptiedVersionsAreSaidToBe() throws {
    let machine = Machine()
    let store = try machine.open()
    let other = try store.keyspace("other")
    try other.put("old", forKey: "key")
    try other.removeAll()
    #expect(try versions(machine, "key", in: "other").map(\.standing) == [.emptied])
    try store.sync()
    try other.put("new", forKey: "key", expiry: .after(.seconds(1)))
    #expect(try versions(machine, "key", in: "other").map(\.standing) == [.current, .emptied])
    machine.clock.advance(milliseconds: 2_000)
    #expect(try versions(machine, "key", in: "other").map(\.standing) == [.expired, .emptied])
    try store.close()
  }

  @Test func keyThatOthersShareTheHashOfIsNotMistaken() throws {
    let machine = Machine()
    let store = try machine.open()
    for number in 0..<300 { try store.put("\(number)", forKey: "key \(number)") }
    for number in 0..<300 {
      let found = try versions(machine, "key \(number)")
      #expect(found.map(\.record.key) == [bytes("key \(number)")])
    }
    try store.close()
  }

  /// What the inspection calls current is what a get returns, through merges and packing.
  @Test(arguments: [false, true])
  func currentVersionIsWhatAGetReturns(isPacked: Bool) throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededGenerator(seed: seed)
    let machine = Machine()
    let store = try machine.open { $0.compression = isPacked ? .lz4 : .off }
    for round in 0..<4 {
      for _ in 0..<150 {
        let key = "key \(Int.random(in: 0..<40, using: &random))"
        switch Int.random(in: 0..<10, using: &random) {
        case 0: try store.remove(key)
        case 1: try store.put("brief", forKey: key, expiry: .after(.seconds(Int.random(in: 1...20, using: &random))))
        default: try store.put([UInt8](repeating: 7, count: Int.random(in: 0...900, using: &random)), forKey: key)
        }
      }
      if round == 1 { try store.merge() }
      machine.clock.advance(milliseconds: 5_000)
      for number in 0..<40 {
        let value = try store.get("key \(number)")
        let found = try versions(machine, "key \(number)")
        #expect(found.first?.standing != .superseded)
        let current = found.first { $0.standing == .current }
        #expect(current?.record.valueLength == value?.count, "seed \(seed), round \(round), key \(number)")
        #expect(found.map(\.record.sequence) == found.map(\.record.sequence).sorted(by: >))
      }
    }
    try store.close()
  }
}
