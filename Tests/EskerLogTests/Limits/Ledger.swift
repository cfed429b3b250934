import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What a store has acknowledged, and what it must therefore show once a limit is lifted.
struct Ledger {
  private(set) var acknowledged: [[UInt8]: [UInt8]] = [:]
  /// Writes that may have happened.
  private(set) var doubtful: [[UInt8]: [UInt8]] = [:]
  /// What was refused, and with what.
  private(set) var refusals: [StoreError] = []

  static func value(_ number: Int, length: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length - 8) + StoreCaller.bytes(number)
  }

  /// Puts a value, and notes what came of it.
  mutating func put(_ number: Int, length: Int, to store: LogStore, durability: Durability = .buffered) {
    let (key, value) = (bytes("key \(number)"), Self.value(number, length: length))
    do throws(StoreError) {
      try store.put(value, forKey: key, durability: durability)
      acknowledged[key] = value
    } catch {
      if case .outcomeUnknown = error { doubtful[key] = value }
      refusals.append(error)
    }
  }

  /// Puts values until one is refused.
  mutating func fill(_ store: LogStore, length: Int, most: Int, durability: Durability = .buffered) {
    for number in acknowledged.count..<acknowledged.count + most where refusals.isEmpty {
      put(number, length: length, to: store, durability: durability)
    }
  }

  /// What was acknowledged is there, and besides that at most what may be.
  func expectHeld(by store: LogStore) throws {
    let found = try store.contents()
    for (key, value) in acknowledged where found[key] != value {
      Issue.record("\(String(decoding: key, as: UTF8.self)) is lost: \(found[key]?.count ?? -1) bytes")
    }
    for (key, value) in found where acknowledged[key] == nil {
      #expect(doubtful[key] == value, "\(String(decoding: key, as: UTF8.self)) was refused")
    }
    let report = try store.verify()
    #expect(report.isClean, "\(report.damage)")
  }
}
