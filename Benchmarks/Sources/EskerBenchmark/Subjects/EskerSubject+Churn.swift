import CLimits
import EskerLog
import Foundation

/// Workloads with little live data at a time: one key rewritten, or keys that come and go.
extension EskerSubject {
  /// Does all writes while sampling the disk use; then times opening a closed store, and killed ones after all and after a
  /// tenth of the writes.
  func churn() throws -> Measurement {
    let window = assignment.workload == .oneKey ? 0 : assignment.keys
    let path = assignment.storePath
    if assignment.isKilled {
      _ = try write(assignment.operations, window: window, at: path, until: .windowIsFull) { _, _ in }
      kill(getpid(), SIGKILL)
    }
    var timeline = DiskTimeline()
    let begin = bench_nanoseconds()
    let esker = try write(assignment.operations, window: window, at: path, until: .allIsGone) { operation, esker in
      timeline.add(operation, try DiskUse.bytes(of: esker.store))
    }
    let seconds = Double(bench_nanoseconds() - begin) * 1e-9
    let statistics = esker.store.statistics
    var figures = [
      "most on disk, MB": Double(timeline.most) * 1e-6,
      "most on disk in the last half, MB": Double(timeline.most(from: 0.5)) * 1e-6,
      "on disk at the last write, MB": Double(try DiskUse.bytes(of: esker.store)) * 1e-6,
      "write amplification": statistics.writeAmplification,
    ]
    figures["on disk when at rest, MB"] = Double(try settle(esker, &timeline)) * 1e-6
    try esker.store.close()
    figures["on disk when closed, MB"] = Double(try DiskUse.bytes(at: path)) * 1e-6
    if let plots = assignment.plots {
      let plot = DiskPlot(title: "\(assignment.workload.rawValue): bytes on disk", timeline: timeline)
      try plot.write(to: plots, name: assignment.workload.rawValue)
    }

    figures["open after a close, ms"] = try timeOpen(path, last: assignment.operations - 1, count: window == 0 ? 1 : 0)
    let tenth = max(assignment.operations / 10, 2 * window, 1)
    let small = path + ".tenth"
    try write(tenth, window: window, at: small, until: .allIsGone) { _, _ in }.store.close()
    figures["open after a close, a tenth written, ms"] = try timeOpen(
      small,
      last: tenth - 1,
      count: window == 0 ? 1 : 0
    )
    figures["open after a kill, ms"] = try timeKilled(assignment.operations)
    figures["open after a kill, a tenth written, ms"] = try timeKilled(tenth)
    var measurement = Measurement(operations: assignment.operations, seconds: seconds, hits: 0, checksum: 0)
    measurement.figures = figures
    return measurement
  }

  private enum End { case windowIsFull, allIsGone }

  /// Puts `count` values. Without a window they all go to one key, otherwise each to its own, and the key `window` puts
  /// earlier is removed.
  private func write(
    _ count: Int,
    window: Int,
    at path: String,
    until end: End,
    look: (Int, EskerStore) throws -> Void
  ) throws -> EskerStore {
    let esker = try EskerStore(at: path)
    let value = ValueBuffer(length: assignment.valueLength)
    let keys = KeyBuffer(numbers: Order.sequential(count: window == 0 ? 1 : count))
    let every = max(min(count / 2_000, 4_096), 1)
    for index in 0..<count {
      value.stamp(UInt64(index))
      try esker.put(value.bytes, forKey: keys[window == 0 ? 0 : index])
      if window > 0, index >= window, try !esker.removeFound(keys[index - window]) { throw missing(index - window) }
      if index % every == 0 { try look(index, esker) }
    }
    guard window > 0, end == .allIsGone else { return esker }
    for index in max(count - window, 0)..<count where try !esker.removeFound(keys[index]) { throw missing(index) }
    return esker
  }

  /// Waits until the store has been quiet for a second, for at most a minute; returns the disk use then.
  private func settle(_ esker: EskerStore, _ timeline: inout DiskTimeline) throws -> Int {
    var bytes = try DiskUse.bytes(of: esker.store)
    var quiet = 0
    for _ in 0..<600 where quiet < 10 {
      Thread.sleep(forTimeInterval: 0.1)
      let now = try DiskUse.bytes(of: esker.store)
      quiet = now == bytes ? quiet + 1 : 0
      bytes = now
    }
    timeline.add(assignment.operations, bytes)
    return bytes
  }

  /// Milliseconds from the call that opens to the first answer.
  private func timeOpen(_ path: String, last: Int, count: Int) throws -> Double {
    let key = KeyBuffer(numbers: CollectionOfOne(UInt64(assignment.workload == .oneKey ? 0 : last)))
    let out = ValueBuffer(length: assignment.valueLength)
    let begin = bench_nanoseconds()
    let esker = try EskerStore(at: path)
    let found = try esker.get(key[0], into: out.mutableBytes)
    let milliseconds = Double(bench_nanoseconds() - begin) * 1e-6
    let isRight = count == 0 ? found == nil : out.bytes.load(as: UInt64.self) == UInt64(last)
    let stored = try esker.store.count()
    guard isRight, stored == count else {
      throw BenchmarkError.wrongResult(
        cell: assignment.workload.rawValue,
        expected: "\(count) entries, the last number \(last)",
        found: "\(stored) entries, and number \(out.bytes.load(as: UInt64.self))"
      )
    }
    try esker.store.close()
    return milliseconds
  }

  /// The same after another process has written `count` values and was killed.
  private func timeKilled(_ count: Int) throws -> Double {
    let directory = assignment.directory + "/killed-\(count)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let arguments = [
      "--workload", assignment.workload.rawValue, "--keys", "\(assignment.keys)", "--operations", "\(count)",
      "--value-length", "\(assignment.valueLength)", "--directory", directory, "--kill",
    ]
    try Child.prepare(arguments, isKilled: true)
    let alive = assignment.workload == .oneKey ? 1 : min(count, assignment.keys)
    return try timeOpen(directory + "/store.esker", last: count - 1, count: alive)
  }

  private func missing(_ index: Int) -> BenchmarkError {
    .wrongResult(cell: assignment.workload.rawValue, expected: "key \(index) to remove", found: "none")
  }
}
