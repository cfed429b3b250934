import EskerLog
import Synchronization

/// A store in which everything expires. The clock follows the writes, so that results do not depend on the machine's speed.
extension EskerSubject {
  /// Once with the same time to live for all keys, once with times that differ by up to a factor of four.
  func expiring() throws -> Measurement {
    let begin = ContinuousClock.now
    let alike = try writeExpiring(name: "alike", lifetimes: assignment.keys...assignment.keys)
    let mixed = try writeExpiring(name: "mixed", lifetimes: assignment.keys / 2...assignment.keys * 2)
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    var measurement = Measurement(operations: 2 * assignment.operations, seconds: seconds, hits: 0, checksum: 0)
    measurement.figures = alike.merging(mixed) { first, _ in first }
    return measurement
  }

  /// Writes each key once. A write takes a millisecond of store time, and a value lives for as many milliseconds as there
  /// are to be live keys.
  private func writeExpiring(name: String, lifetimes: ClosedRange<Int>) throws -> [String: Double] {
    let clock = WriteClock()
    var options = Options()
    options.clock = clock.storeClock
    let checkpointed = Tallied()
    options.onEvent = { event in
      if case .checkpointWritten(_, let bytes) = event { checkpointed.add(bytes) }
    }
    let store = try LogStore(at: assignment.storePath + "." + name, options: options)
    let value = ValueBuffer(length: assignment.valueLength)
    let keys = KeyBuffer(numbers: Order.sequential(count: assignment.operations))
    var random = SplitMix(state: 0xE5_4E4)
    var timeline = DiskTimeline()
    var mostLive = 0
    let every = max(min(assignment.operations / 2_000, 4_096), 1)
    for index in 0..<assignment.operations {
      clock.tick()
      value.stamp(UInt64(index))
      let lifetime = lifetimes.lowerBound + Int(random.next(below: UInt64(lifetimes.count)))
      try store.put(
        RawSpan(_unsafeBytes: value.bytes),
        forKey: RawSpan(_unsafeBytes: keys[index]),
        expiry: .after(.milliseconds(lifetime))
      )
      if index % every == 0 {
        timeline.add(index, try DiskUse.bytes(of: store))
        mostLive = max(mostLive, store.statistics.liveBytes)
      }
    }
    let statistics = store.statistics
    let checkpoints = Double(checkpointed.sum)
    try store.close()
    if let plots = assignment.plots {
      let plot = DiskPlot(title: "expiring, times to live \(name): bytes on disk", timeline: timeline)
      try plot.write(to: plots, name: "expiring-" + name)
    }
    let record = Double((32 + 8 + KeyBuffer.keyLength + assignment.valueLength + 7) / 8 * 8)
    let unexpired = Double((lifetimes.lowerBound + lifetimes.upperBound) / 2) * record
    return [
      "\(name): write amplification": statistics.writeAmplification,
      "\(name): write amplification of records": 1 + Double(statistics.merged.bytesWritten)
        / Double(statistics.bytesLogged),
      "\(name): write amplification without checkpoints": statistics.writeAmplification - checkpoints
        / Double(statistics.bytesLogged),
      "\(name): most on disk, MB": Double(timeline.most) * 1e-6,
      "\(name): most on disk in the last half, MB": Double(timeline.most(from: 0.5)) * 1e-6,
      "\(name): records that have not expired, MB": unexpired * 1e-6,
    ]
  }
}

/// A sum that any thread may add to.
private final class Tallied: Sendable {
  private let total = Atomic<Int>(0)

  func add(_ count: Int) {
    total.add(count, ordering: .relaxed)
  }

  var sum: Int { total.load(ordering: .relaxed) }
}
