import CLimits

/// Memory for a value to put or get; the first 8 bytes are its stamp.
final class ValueBuffer {
  let mutableBytes: UnsafeMutableRawBufferPointer

  init(length: Int) {
    mutableBytes = .allocate(byteCount: length, alignment: 16)
    for index in 0..<length { mutableBytes[index] = UInt8(truncatingIfNeeded: bench_mix(UInt64(index))) }
  }

  deinit {
    mutableBytes.deallocate()
  }

  @inline(__always) var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(mutableBytes) }

  @inline(__always)
  func stamp(_ number: UInt64) {
    mutableBytes.storeBytes(of: number, as: UInt64.self)
  }

  /// Sets one of ten fields.
  @inline(__always)
  func changeTenth(_ number: UInt64) {
    let length = mutableBytes.count / 10
    let start = Int(number % 10) * length
    for place in start..<start + length { mutableBytes[place] = UInt8(truncatingIfNeeded: number) }
  }
}
