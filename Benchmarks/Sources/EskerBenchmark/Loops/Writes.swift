import CLimits
import EskerLog

/// Puts, one after another; the value of turn i is stamped `first + i`.
struct Puts<S: Session>: Loop {
  let session: S
  let keys: KeyBuffer
  let first: Int
  let value: ValueBuffer

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    for index in turns {
      value.stamp(UInt64(first + index))
      recorder.begin()
      try session.put(value.bytes, forKey: keys[index])
      recorder.end()
      bench_await_loads()
    }
    return Tally()
  }
}

/// Batches of puts, or of removals if there is no value; as ``Puts`` and ``Removes`` otherwise.
struct Batches: Loop {
  let store: LogStore
  let keys: KeyBuffer
  let first: Int
  let value: ValueBuffer?
  let width: Int

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    for turn in turns {
      recorder.begin()
      try store.write { (batch) throws(StoreError) in
        for index in turn * width..<min((turn + 1) * width, keys.count) {
          let key = RawSpan(_unsafeBytes: keys[index])
          if let value {
            value.stamp(UInt64(first + index))
            try batch.put(RawSpan(_unsafeBytes: value.bytes), forKey: key)
          } else {
            try batch.remove(key)
          }
        }
      }
      recorder.end()
      bench_await_loads()
    }
    return Tally()
  }
}

struct Removes<S: Session>: Loop {
  let session: S
  let keys: KeyBuffer

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    for index in turns {
      recorder.begin()
      try session.remove(keys[index])
      recorder.end()
      bench_await_loads()
    }
    return Tally()
  }
}

/// Gets and puts as chosen by `bench_is_get`; the value put in turn i is stamped `first + i`.
struct Mix<S: Session>: Loop {
  let session: S
  let keys: KeyBuffer
  let first: Int
  let readPercent: UInt32
  /// Whether a put changes a tenth of the existing value instead of replacing it.
  let modifies: Bool
  let value: ValueBuffer
  let out: ValueBuffer

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    var tally = Tally()
    for index in turns {
      recorder.begin()
      if bench_is_get(UInt64(index), readPercent) {
        if try session.get(keys[index], into: out.mutableBytes) != nil { tally.add(out.bytes) }
        bench_await_loads()
      } else if modifies {
        if try session.get(keys[index], into: out.mutableBytes) != nil { tally.add(out.bytes) }
        bench_await_loads()
        out.changeTenth(UInt64(index))
        out.stamp(UInt64(first + index))
        try session.put(out.bytes, forKey: keys[index])
      } else {
        value.stamp(UInt64(first + index))
        try session.put(value.bytes, forKey: keys[index])
      }
      recorder.end()
    }
    return tally
  }
}
