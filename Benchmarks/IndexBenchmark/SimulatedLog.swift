import EskerPlatform

/// Records of 144 bytes in memory, of which the benchmark reads the 16-byte key only, as a get does to validate a hit.
final class SimulatedLog: Sendable {
  static let recordUnits: UInt64 = 18
  private static let keyOffset = 32
  private nonisolated(unsafe) let base: UnsafeMutableRawPointer
  private let byteCount: Int

  init?(capacity: Int) {
    byteCount = (capacity + 1) * Int(SimulatedLog.recordUnits) * 8
    guard let base = AnonymousMemory.allocate(byteCount: byteCount) else { return nil }
    self.base = base
    AnonymousMemory.populate(base, byteCount: byteCount)
  }

  deinit {
    AnonymousMemory.free(base, byteCount: byteCount)
  }

  /// The address of the n-th record, in units of eight bytes; never 0.
  static func address(_ number: Int) -> UInt64 {
    (UInt64(number) + 1) * recordUnits
  }

  func write(_ number: Int) {
    let record = base + Int(SimulatedLog.address(number)) * 8 - Int(SimulatedLog.recordUnits) * 8
    record.storeBytes(of: Key(number).high, toByteOffset: SimulatedLog.keyOffset, as: UInt64.self)
    record.storeBytes(of: Key(number).low, toByteOffset: SimulatedLog.keyOffset + 8, as: UInt64.self)
  }

  @inline(__always)
  func holds(_ key: Key, at address: UInt64) -> Bool {
    let record = base + Int(address) * 8 - Int(SimulatedLog.recordUnits) * 8
    return record.load(fromByteOffset: SimulatedLog.keyOffset, as: UInt64.self) == key.high
      && record.load(fromByteOffset: SimulatedLog.keyOffset + 8, as: UInt64.self) == key.low
  }
}

/// A 16-byte key made from a number.
struct Key {
  var high: UInt64
  var low: UInt64

  @inline(__always)
  init(_ number: Int) {
    high = mix(UInt64(number) &+ 0x9E37_79B9_7F4A_7C15)
    low = UInt64(number)
  }

  @inline(__always) var hash: UInt64 { mix(high ^ low &* 0xD6E8_FEB8_6659_FD93) }
}

@inline(__always)
func mix(_ value: UInt64) -> UInt64 {
  var z = value
  z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
  z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
  return z ^ (z >> 31)
}
