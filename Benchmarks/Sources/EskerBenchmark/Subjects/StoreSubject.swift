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
    let ordered = assignment.workload.isOrdered && assignment.subject == .esker ? engine as? EskerStore : nil
    if !assignment.workload.isOnStored { try ordered?.keepOrder() }
    if let stored = script.stored, !assignment.isFilled {
      let session = try engine.session()
      try Puts(session: session, keys: stored, first: 0, value: value).run(0..<stored.count)
      try session.end()
      try engine.settle()
    }
    // Before the reads that warm, so that these leave the processor's caches alike with an order and without.
    if assignment.workload.isOnStored { try ordered?.keepOrder() }
    if let warming = script.warming {
      let session = try engine.session()
      try Gets(session: session, keys: warming, out: value).run(0..<warming.count)
      try session.end()
    }
  }

  private func run(_ script: Script) throws -> Pace {
    let keys = script.measured
    let length = assignment.valueLength
    let first = script.stored == nil ? 0 : assignment.keys
    // Either a value or a key is copied to each place.
    let scanned = ValueBuffer(length: max(length, KeyBuffer.keyLength) * ScanKind.mostAtOnce)
    if let kind = assignment.workload.scan {
      let width = kind.startLength == 0 ? assignment.keys : 1
      return try run(keys.count) { Scans(session: $0, keys: keys, kind: kind, width: width, out: scanned) }
    }
    if let store = (engine as? EskerStore)?.store, assignment.subject.batch > 1 {
      let width = assignment.subject.batch
      let value = assignment.workload == .delete ? nil : ValueBuffer(length: length)
      return try run((keys.count + width - 1) / width) { _ in
        Batches(store: store, keys: keys, first: first, value: value, width: width)
      }
    }
    switch assignment.workload {
    case _ where assignment.workload.isFill, .overwrite, .overwriteSteady, .orderedOverwrite:
      return try run(keys.count) { Puts(session: $0, keys: keys, first: first, value: ValueBuffer(length: length)) }
    case .get, .getZipfian, .orderedGet, .miss, .ycsbC:
      return try run(keys.count) { Gets(session: $0, keys: keys, out: ValueBuffer(length: length)) }
    case .getOverlapping:
      return try run(keys.count) { OverlappingGets(session: $0, keys: keys, out: ValueBuffer(length: length)) }
    case .multiGet:
      let windows = keys.windows(of: 32)
      return try run(windows.count) {
        WindowGets(session: $0, windows: windows, out: ValueBuffer(length: length * 32), stride: length)
      }
    case .queue:
      let (value, out) = (ValueBuffer(length: length), ValueBuffer(length: length))
      return try run(keys.count) { Queue(session: $0, keys: keys, first: first, value: value, out: out) }
    case .ycsbE:
      return try run(keys.count) {
        ScanMix(
          session: $0,
          keys: keys,
          first: first,
          readPercent: assignment.workload.readPercent ?? 100,
          value: ValueBuffer(length: length),
          out: scanned
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
