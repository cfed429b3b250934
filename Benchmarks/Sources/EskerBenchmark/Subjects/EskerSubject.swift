import CLimits
import Foundation

/// Runs the workloads on Esker.
struct EskerSubject {
  let assignment: Assignment

  init(_ assignment: Assignment) {
    self.assignment = assignment
  }

  func measure() throws -> Measurement {
    switch assignment.workload {
    case .openClean, .openCrashed: return try open()
    case .growth: return try growth()
    case .overwriteMerging: return try overwriteMerging()
    case .getMerging: return try getMerging()
    case .oneKey, .comeAndGo: return try churn()
    case .expiring: return try expiring()
    case .capacityTrace: return try capacityTraces()
    case .packing: return try packing()
    default: break
    }
    if assignment.latency {
      var recorder = LatencyRecorder()
      var measurement = try measureStore(&recorder)
      measurement.latency = recorder.latency
      return measurement
    }
    var recorder = NoRecorder()
    return try measureStore(&recorder)
  }

  private func measureStore<R: Recorder>(_ recorder: inout R) throws -> Measurement {
    let script = Script(assignment)
    let keys = script.measured
    let esker = try EskerStore(at: assignment.storePath)
    let value = ValueBuffer(length: assignment.valueLength)
    let out = ValueBuffer(length: assignment.valueLength)
    try prepare(esker, script)

    var tally = Tally()
    var seconds = 0.0
    switch assignment.workload {
    case .fill, .prepareClean, .prepareCrashed:
      seconds = try timed { try esker.fill(keys, first: 0, value: value, recorder: &recorder) }
    case .overwrite:
      seconds = try timed { try esker.fill(keys, first: assignment.keys, value: value, recorder: &recorder) }
    case .ycsbA:
      seconds = try timed { tally = try esker.mix(keys, first: assignment.keys, value: value, out: out) }
    case .delete:
      seconds = try timed { try esker.delete(keys, recorder: &recorder) }
    case .get, .getZipfian, .miss:
      seconds = try timed { tally = try esker.get(keys, range: 0..<keys.count, out: out, recorder: &recorder) }
    case .getOverlapping:
      seconds = try timed { tally = try esker.getOverlapping(keys, out: out) }
    case .getArray:
      seconds = try timed { tally = try esker.getArrays(keys) }
    case .multiGet:
      let windows = keys.windows(of: 32)
      let room = ValueBuffer(length: assignment.valueLength * 32)
      seconds = try timed {
        tally = try esker.getWindows(windows, out: room, stride: assignment.valueLength)
      }
    case .getTwoThreads:
      (seconds, tally) = try EskerThreads(count: 2, keys: keys, valueLength: assignment.valueLength).get(esker)
    case .synced:
      seconds = try timed {
        try esker.fillSynced(keys, range: 0..<keys.count, value: value, recorder: &recorder)
      }
    case .syncedThreads:
      let threads = EskerThreads(count: 16, keys: keys, valueLength: assignment.valueLength)
      seconds = try threads.putSynced(esker, recorder: &recorder)
    case .syncedTasks:
      seconds = try EskerTasks(count: 1_000, operations: keys.count, valueLength: assignment.valueLength).put(esker)
    case .openClean, .openCrashed, .growth, .overwriteMerging, .getMerging, .oneKey, .comeAndGo, .expiring,
      .capacityTrace, .packing:
      throw BenchmarkError.noSuchCombination(workload: assignment.workload.rawValue, subject: Subject.esker.rawValue)
    }
    if let verifying = script.verifying {
      var none = NoRecorder()
      tally = try esker.get(verifying, range: 0..<verifying.count, out: out, recorder: &none)
    }
    var measurement = Measurement(
      operations: keys.count,
      seconds: seconds,
      hits: tally.hits,
      checksum: tally.checksum
    )
    if assignment.workload == .ycsbA {
      let statistics = esker.store.statistics
      measurement.figures["write amplification, fill included"] = statistics.writeAmplification
      measurement.figures["on disk at the end, of live bytes"] = statistics.spaceAmplification
    }
    try script.check(measurement, of: assignment.workload)
    if assignment.workload == .prepareCrashed { kill(getpid(), SIGKILL) }
    try esker.store.close()
    return measurement
  }

  /// Fills and warms the store, and leaves nothing for the kernel to write back during what is measured.
  private func prepare(_ esker: EskerStore, _ script: Script) throws {
    var none = NoRecorder()
    let value = ValueBuffer(length: assignment.valueLength)
    if let stored = script.stored {
      try esker.fill(stored, first: 0, value: value, recorder: &none)
      try esker.store.sync()
    }
    if let warming = script.warming {
      _ = try esker.get(warming, range: 0..<warming.count, out: value, recorder: &none)
    }
  }

  private func timed(_ body: () throws -> Void) rethrows -> Double {
    let begin = bench_nanoseconds()
    try body()
    return Double(bench_nanoseconds() - begin) * 1e-9
  }
}
