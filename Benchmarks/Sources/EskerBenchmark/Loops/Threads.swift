import CLimits
import Foundation

/// A loop on several threads that start together, each with its own session and its own range of turns.
struct Threads {
  var count: Int

  /// Three quarters of the turns are timed as a whole, from the common start to the end of the last thread; each remaining
  /// turn is timed individually.
  func run<E: Engine, L: Loop>(_ engine: E, turns: Int, _ make: (E.ThreadSession) -> L) throws -> Pace {
    let sessions = try (0..<count).map { _ in try engine.session() }
    let loops = sessions.map(make)
    let each = turns / count
    let untimed = each * 3 / 4
    var tally = Tally()
    let seconds = try together(count) { thread in
      try loops[thread].run(thread * each..<thread * each + untimed)
    } collect: { (share: Tally) in
      tally += share
    }
    var recorder = LatencyRecorder()
    _ = try together(count) { thread in
      var own = LatencyRecorder()
      let share = try loops[thread].run(thread * each + untimed..<(thread + 1) * each, &own)
      return (share, own)
    } collect: { (share: Tally, own: LatencyRecorder) in
      tally += share
      recorder.add(own)
    }
    for session in sessions { try session.end() }
    return Pace(
      operations: untimed * count * (loops.first?.width ?? 1),
      seconds: seconds,
      tally: tally,
      recorder: recorder
    )
  }
}

/// Runs a body on several threads that start together.
///
/// - Returns: The seconds from the common start to the end of the last thread.
func together<Share>(
  _ count: Int,
  _ body: @escaping (Int) throws -> Share,
  collect: (Share) -> Void
) throws -> Double {
  let work = ThreadedWork<Share>(count: count) { thread in Result { try body(thread) } }
  let seconds = work.run()
  if seconds < 0 { throw BenchmarkError.limit(workload: "threads", errno: EAGAIN) }
  for result in work.results { if let result { collect(try result.get()) } }
  return seconds
}

/// Passes a closure and one result per thread through the C function that starts the threads together.
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

/// The context for a C function pointer, which cannot be generic.
private final class ErasedWork {
  let body: (Int) -> Void

  init(_ body: @escaping (Int) -> Void) {
    self.body = body
  }
}
