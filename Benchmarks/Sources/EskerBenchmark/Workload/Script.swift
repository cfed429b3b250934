/// The key sequences of one assignment: made once, used alike by every subject.
struct Script {
  /// What the store holds before the clock starts; nil when the measured operations fill it.
  var stored: KeyBuffer?
  /// Reads before the clock starts, so that both sides are measured with warm page tables.
  var warming: KeyBuffer?
  /// The measured operations, in order.
  var measured: KeyBuffer
  /// Keys read after the clock has stopped, to see that the writes happened.
  var verifying: KeyBuffer?
  /// What must be found, where it can be said beforehand.
  private(set) var expected: Tally?

  init(_ assignment: Assignment) {
    let keys = assignment.keys
    let count = assignment.operations
    let seed: UInt64 = 0xE5_4E4
    let sample = min(keys, 100_000)
    var numbers: [UInt64]
    switch assignment.workload {
    case .get, .getOverlapping, .getArray, .getTwoThreads, .multiGet:
      numbers = Order.uniform(below: keys, count: count, seed: seed)
    case .getZipfian, .ycsbA:
      numbers = Order.zipfian(below: keys, count: count, seed: seed)
    case .miss:
      numbers = Order.sequential(from: keys, count: count)
    case .overwrite:
      numbers = Order.uniform(below: keys, count: count, seed: seed)
    case .delete:
      // As many again behind the deleted ones are read at the end: they must still be there.
      numbers = Order.shuffled(below: keys, count: min(count * 2, keys), seed: seed)
      verifying = KeyBuffer(numbers: numbers.dropFirst(max(0, count - sample / 2)).prefix(sample))
      numbers.removeSubrange(min(count, numbers.count)...)
    default:
      numbers = Order.sequential(count: count)
    }
    measured = KeyBuffer(numbers: numbers)
    if assignment.workload == .miss {
      expected = Tally()
    } else if assignment.workload.isRead {
      expected = Tally(hits: measured.count, checksum: measured.checksum)
    }
    switch assignment.workload {
    case .fill, .prepareClean, .prepareCrashed, .synced, .syncedThreads, .syncedTasks:
      let last = KeyBuffer(numbers: numbers.suffix(sample))
      verifying = last
      expected = Tally(hits: last.count, checksum: last.checksum)
    case .overwrite:
      verifying = KeyBuffer(numbers: numbers.suffix(sample))
      fallthrough
    case .delete, .get, .getOverlapping, .getArray, .getTwoThreads, .getZipfian, .miss, .multiGet, .ycsbA:
      stored = KeyBuffer(numbers: Order.sequential(count: keys))
      warming = KeyBuffer(numbers: Order.uniform(below: keys, count: min(2 * keys, 2_000_000), seed: ~seed))
    default:
      break
    }
  }

  /// Throws when something else was read than what the workload wrote.
  func check(_ measurement: Measurement, of workload: Workload) throws {
    guard let expected, measurement.hits != expected.hits || measurement.checksum != expected.checksum else { return }
    throw BenchmarkError.wrongResult(
      cell: workload.rawValue,
      expected: "\(expected.hits) values with sum \(expected.checksum)",
      found: "\(measurement.hits) with sum \(measurement.checksum)"
    )
  }
}
