import CLimits

/// The measured loops: one operation a turn, an optional timestamp around it, no allocation besides what the call itself makes.
extension EskerStore {
  func fill(_ keys: KeyBuffer, first: Int, value: ValueBuffer, recorder: inout some Recorder) throws {
    for index in 0..<keys.count {
      value.stamp(UInt64(first + index))
      recorder.begin()
      try put(value.bytes, forKey: keys[index])
      recorder.end()
    }
  }

  func fillSynced(_ keys: KeyBuffer, range: Range<Int>, value: ValueBuffer, recorder: inout some Recorder) throws {
    for index in range {
      value.stamp(UInt64(index))
      recorder.begin()
      try putSynced(value.bytes, forKey: keys[index])
      recorder.end()
    }
  }

  func delete(_ keys: KeyBuffer, recorder: inout some Recorder) throws {
    for index in 0..<keys.count {
      recorder.begin()
      _ = try remove(keys[index])
      recorder.end()
    }
  }

  func get(_ keys: KeyBuffer, range: Range<Int>, out: ValueBuffer, recorder: inout some Recorder) throws -> Tally {
    var tally = Tally()
    for index in range {
      recorder.begin()
      if try get(keys[index], into: out.mutableBytes) != nil { tally.add(out.bytes) }
      recorder.end()
      bench_await_loads()
    }
    return tally
  }

  /// Overwrites and gets in equal parts; the value of operation i is marked `first + i`.
  func mix(_ keys: KeyBuffer, first: Int, value: ValueBuffer, out: ValueBuffer) throws -> Tally {
    var tally = Tally()
    for index in 0..<keys.count {
      if bench_is_get(UInt64(index)) {
        if try get(keys[index], into: out.mutableBytes) != nil { tally.add(out.bytes) }
        bench_await_loads()
      } else {
        value.stamp(UInt64(first + index))
        try put(value.bytes, forKey: keys[index])
      }
    }
    return tally
  }

  func getOverlapping(_ keys: KeyBuffer, out: ValueBuffer) throws -> Tally {
    var tally = Tally()
    for index in 0..<keys.count where try get(keys[index], into: out.mutableBytes) != nil { tally.add(out.bytes) }
    return tally
  }

  func getArrays(_ keys: KeyBuffer) throws -> Tally {
    var tally = Tally()
    for index in 0..<keys.count {
      if let value = try getArray(keys[index]) { value.withUnsafeBytes { tally.add($0) } }
      bench_await_loads()
    }
    return tally
  }

  func getWindows(_ windows: [[UnsafeRawBufferPointer]], out: ValueBuffer, stride: Int) throws -> Tally {
    var tally = Tally()
    for window in windows { tally += try get(window, into: out.mutableBytes, stride: stride) }
    return tally
  }
}

/// Memory for a value to put or to get; the first 8 bytes are its stamp.
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
}
