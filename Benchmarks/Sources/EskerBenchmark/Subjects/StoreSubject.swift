import CLimits
import Foundation

/// Runs the workloads that are loops over keys, on any engine.
struct StoreSubject<E: Engine> {
  let assignment: Assignment
  let engine: E

  func measure() throws -> Measurement {
    let script = Script(assignment)
    let before = Resources.now()
    try prepare(script)
    let started = Resources.now()
    var pace = try run(script)
    let ended = Resources.now()
    if let verifying = script.verifying {
      let session = try engine.session()
      pace.tally = try Gets(session: session, keys: verifying, out: ValueBuffer(length: assignment.valueLength))
        .run(0..<verifying.count)
      try session.end()
    }
    var measurement = Measurement(pace)
    measurement.memoryBytes = max(0, ended.anonymous - before.anonymous)
    measurement.residentBytes = max(0, ended.resident - before.resident)
    if !assignment.workload.isRead { measurement.writtenBytes = ended.written - started.written }
    try script.check(measurement, of: assignment.workload)
    return measurement
  }

  /// Fills and warms the store, and leaves no work for the kernel or the engine to do during the measurement.
  private func prepare(_ script: Script) throws {
    let value = ValueBuffer(length: assignment.valueLength)
    if [.orderedFill, .prepareOrdered].contains(assignment.workload) { try (engine as? EskerStore)?.keepOrder() }
    if let stored = script.stored, !assignment.isFilled {
      let session = try engine.session()
      try Puts(session: session, keys: stored, first: 0, value: value).run(0..<stored.count)
      try session.end()
      try engine.settle()
    }
    if let warming = script.warming {
      let session = try engine.session()
      try Gets(session: session, keys: warming, out: value).run(0..<warming.count)
      try session.end()
    }
    if [.scan, .ycsbE].contains(assignment.workload) { try (engine as? EskerStore)?.keepOrder() }
  }

  private func run(_ script: Script) throws -> Pace {
    let keys = script.measured
    let length = assignment.valueLength
    let first = script.stored == nil ? 0 : assignment.keys
    switch assignment.workload {
    case .fill, .fillSequential, .orderedFill, .prepareClean, .prepareOrdered, .prepareCrashed, .overwrite,
      .overwriteSteady, .synced:
      return try run(keys.count) { Puts(session: $0, keys: keys, first: first, value: ValueBuffer(length: length)) }
    case .get, .getZipfian, .miss, .ycsbC:
      return try run(keys.count) { Gets(session: $0, keys: keys, out: ValueBuffer(length: length)) }
    case .getOverlapping:
      return try run(keys.count) { OverlappingGets(session: $0, keys: keys, out: ValueBuffer(length: length)) }
    case .multiGet:
      let windows = keys.windows(of: 32)
      return try run(windows.count) {
        WindowGets(session: $0, windows: windows, out: ValueBuffer(length: length * 32), stride: length)
      }
    case .scan:
      let out = ValueBuffer(length: length * Scans<E.ThreadSession>.length)
      return try run(keys.count) { Scans(session: $0, keys: keys, out: out, stride: length) }
    case .ycsbE:
      let out = ValueBuffer(length: length * Scans<E.ThreadSession>.length)
      return try run(keys.count) {
        ScanMix(
          session: $0,
          keys: keys,
          first: first,
          readPercent: assignment.workload.readPercent ?? 100,
          value: ValueBuffer(length: length),
          out: out
        )
      }
    case .delete:
      return try run(keys.count) { Removes(session: $0, keys: keys) }
    case .ycsbA, .ycsbB, .ycsbD, .ycsbF:
      return try run(keys.count) {
        Mix(
          session: $0,
          keys: keys,
          first: first,
          readPercent: assignment.workload.readPercent ?? 100,
          modifies: assignment.workload == .ycsbF,
          value: ValueBuffer(length: length),
          out: ValueBuffer(length: length)
        )
      }
    case .getWhileWriting:
      return try getWhileWriting(keys)
    default:
      throw BenchmarkError.noSuchCombination(
        workload: assignment.workload.rawValue,
        subject: assignment.subject.rawValue
      )
    }
  }

  private func run<L: Loop>(_ turns: Int, _ make: (E.ThreadSession) -> L) throws -> Pace {
    if assignment.threads > 1 { return try Threads(count: assignment.threads).run(engine, turns: turns, make) }
    let session = try engine.session()
    var pace = Pace()
    try pace.run(make(session), 0..<turns)
    let begin = bench_nanoseconds()
    try session.end()
    pace.seconds += Double(bench_nanoseconds() - begin) * 1e-9
    return pace
  }
}
