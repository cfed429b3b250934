import CLimits

/// What the scans of a workload have in common.
struct ScanKind {
  /// The entries of a short scan; all scans copy to a place for so many.
  static let mostAtOnce = 100

  /// How much of a key a scan begins with.
  var startLength = KeyBuffer.keyLength
  var isPrefix = false
  var limit = Int.max
  var isOfKeys = false

  @inline(__always)
  func range(from key: UnsafeRawBufferPointer) -> ScanRange {
    ScanRange(
      start: UnsafeRawBufferPointer(start: key.baseAddress, count: startLength),
      isPrefix: isPrefix,
      limit: limit,
      isOfKeys: isOfKeys
    )
  }
}

/// Scans, each from another key.
struct Scans<S: Session>: Loop {
  let session: S
  let keys: KeyBuffer
  let kind: ScanKind
  /// The entries that count as operations; a scan of some counts as one.
  var width = 1
  let out: ValueBuffer

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    let stride = out.bytes.count / ScanKind.mostAtOnce
    var tally = Tally()
    for index in turns {
      recorder.begin()
      tally += try session.scan(kind.range(from: keys[index]), into: out.mutableBytes, stride: stride)
      recorder.end()
    }
    return tally
  }
}

/// Scans of up to a hundred entries and puts, as chosen by `bench_is_get`; the value put in turn i is stamped `first + i`.
struct ScanMix<S: Session>: Loop {
  let session: S
  let keys: KeyBuffer
  let first: Int
  let readPercent: UInt32
  let value: ValueBuffer
  let out: ValueBuffer

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    var tally = Tally()
    for index in turns {
      recorder.begin()
      if bench_is_get(UInt64(index), readPercent) {
        let count = Int(bench_mix(UInt64(index)) % UInt64(ScanKind.mostAtOnce)) + 1
        let range = ScanRange(start: keys[index], limit: count)
        tally += try session.scan(range, into: out.mutableBytes, stride: value.bytes.count)
      } else {
        value.stamp(UInt64(first + index))
        try session.put(value.bytes, forKey: keys[index])
      }
      recorder.end()
    }
    return tally
  }
}

/// A queue: each turn appends an entry, whose value is stamped `first + i`, and takes the first.
struct Queue<S: Session>: Loop {
  let session: S
  let keys: KeyBuffer
  let first: Int
  let value: ValueBuffer
  let out: ValueBuffer

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    var tally = Tally()
    for index in turns {
      value.stamp(UInt64(first + index))
      recorder.begin()
      try session.put(value.bytes, forKey: keys[index])
      if try session.takeFirst(into: out.mutableBytes) != nil { tally.add(out.bytes) }
      recorder.end()
      bench_await_loads()
    }
    return tally
  }
}
