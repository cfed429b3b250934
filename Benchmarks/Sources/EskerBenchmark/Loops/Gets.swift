import CLimits

/// Gets, one after another.
struct Gets<S: Session>: Loop {
  let session: S
  let keys: KeyBuffer
  let out: ValueBuffer

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    var tally = Tally()
    for index in turns {
      recorder.begin()
      if try session.get(keys[index], into: out.mutableBytes) != nil { tally.add(out.bytes) }
      recorder.end()
      bench_await_loads()
    }
    return tally
  }
}

/// Gets that the processor may overlap.
struct OverlappingGets<S: Session>: Loop {
  let session: S
  let keys: KeyBuffer
  let out: ValueBuffer

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    var tally = Tally()
    for index in turns {
      recorder.begin()
      if try session.get(keys[index], into: out.mutableBytes) != nil { tally.add(out.bytes) }
      recorder.end()
    }
    return tally
  }
}

/// Gets of several keys per call.
struct WindowGets<S: Session>: Loop {
  static var length: Int { 32 }

  let session: S
  let windows: [KeyWindow]
  let out: ValueBuffer
  let stride: Int

  var width: Int { Self.length }

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    var tally = Tally()
    for turn in turns {
      recorder.begin()
      tally += try session.get(windows[turn], into: out.mutableBytes, stride: stride)
      recorder.end()
    }
    return tally
  }
}

/// Gets from Esker that create an array each.
struct ArrayGets: Loop {
  let session: EskerStore
  let keys: KeyBuffer

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    var tally = Tally()
    for index in turns {
      recorder.begin()
      if let value = try session.getArray(keys[index]) { value.withUnsafeBytes { tally.add($0) } }
      recorder.end()
      bench_await_loads()
    }
    return tally
  }
}
