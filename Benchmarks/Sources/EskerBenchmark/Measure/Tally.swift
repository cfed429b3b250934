/// What was read.
struct Tally {
  var hits = 0
  var checksum: UInt64 = 0

  @inline(__always)
  mutating func add(_ value: UnsafeRawBufferPointer) {
    hits += 1
    checksum &+= value.loadUnaligned(as: UInt64.self)
  }

  static func += (left: inout Tally, right: Tally) {
    left.hits += right.hits
    left.checksum &+= right.checksum
  }
}
