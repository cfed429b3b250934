import CLimits
import Foundation

/// The loops on several threads that start together, each with its own run of the keys.
struct EskerThreads {
  var count: Int
  var keys: KeyBuffer
  var valueLength: Int

  func get(_ esker: EskerStore) throws -> (seconds: Double, tally: Tally) {
    var tally = Tally()
    let seconds = try run { range, buffer in
      var none = NoRecorder()
      return try esker.get(keys, range: range, out: buffer, recorder: &none)
    } collect: { (share: Tally) in
      tally += share
    }
    return (seconds, tally)
  }

  func putSynced<R: Recorder>(_ esker: EskerStore, recorder: inout R) throws -> Double {
    try run { range, buffer in
      var own = R()
      try esker.fillSynced(keys, range: range, value: buffer, recorder: &own)
      return own
    } collect: { (share: R) in
      recorder.add(share)
    }
  }

  /// Seconds from the common start to the last thread's end.
  private func run<Share>(
    _ body: @escaping (Range<Int>, ValueBuffer) throws -> Share,
    collect: (Share) -> Void
  ) throws -> Double {
    let each = keys.count / count
    let work = ThreadedWork<Share>(count: count) { thread in
      Result { try body(thread * each..<(thread + 1) * each, ValueBuffer(length: valueLength)) }
    }
    let seconds = work.run()
    if seconds < 0 { throw BenchmarkError.limit(workload: "threads", errno: EAGAIN) }
    for result in work.results { if let result { collect(try result.get()) } }
    return seconds
  }
}

/// Carries a closure and one result a thread through the C function that starts them together.
private final class ThreadedWork<Share> {
  private let count: Int
  private let body: (Int) -> Result<Share, any Error>
  private let slots: UnsafeMutableBufferPointer<Result<Share, any Error>?>

  init(count: Int, body: @escaping (Int) -> Result<Share, any Error>) {
    self.count = count
    self.body = body
    slots = .allocate(capacity: count)
    slots.initialize(repeating: nil)
  }

  deinit {
    slots.deinitialize()
    slots.deallocate()
  }

  /// In the order of the threads.
  var results: [Result<Share, any Error>?] { Array(slots) }

  func run() -> Double {
    let erased = ErasedWork { thread in self.slots[thread] = self.body(thread) }
    return withExtendedLifetime(erased) {
      bench_run_threads(
        Int32(count),
        { context, thread in
          guard let context else { return }
          Unmanaged<ErasedWork>.fromOpaque(context).takeUnretainedValue().body(Int(thread))
        },
        Unmanaged.passUnretained(erased).toOpaque()
      )
    }
  }
}

/// A C function pointer cannot be generic: this is what it gets.
private final class ErasedWork {
  let body: (Int) -> Void

  init(_ body: @escaping (Int) -> Void) {
    self.body = body
  }
}
