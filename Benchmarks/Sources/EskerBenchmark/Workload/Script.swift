import CLimits
import CacheTraces

/// The key sequences of an assignment: created once, the same for every subject.
struct Script {
  /// The store's contents before the clock starts; nil if the measured operations fill it.
  var stored: KeyBuffer?
  /// Reads before the clock starts, so that both sides are measured with warm page tables.
  var warming: KeyBuffer?
  /// The measured operations, in order.
  var measured: KeyBuffer
  /// Keys read after the clock has stopped, to check that the writes happened.
  var verifying: KeyBuffer?
  /// The expected result, where it is known in advance.
  private(set) var expected: Tally?

  init(_ assignment: Assignment) {
    let workload = assignment.workload
    let keys = assignment.keys
    let shape = workload.keyShape(keys)
    let sample = min(keys, 100_000)
    var numbers = Script.numbers(assignment)
    if workload == .delete {
      // As many again after the deleted ones are read at the end: they must still be there.
      let count = assignment.operations
      verifying = KeyBuffer(numbers: numbers.dropFirst(max(0, count - sample / 2)).prefix(sample))
      numbers.removeSubrange(min(count, numbers.count)...)
    }
    measured = KeyBuffer(numbers: numbers, shape: shape)
    if workload == .miss {
      expected = Tally()
    } else if workload.isRead {
      expected = Tally(hits: measured.count, checksum: measured.checksum)
    }
    switch workload {
    case _ where workload.isFill, .syncedTasks:
      let last = KeyBuffer(numbers: numbers.suffix(sample), shape: shape)
      verifying = last
      expected = Tally(hits: last.count, checksum: last.checksum)
    case .overwrite, .overwriteSteady, .orderedOverwrite:
      verifying = KeyBuffer(numbers: numbers.suffix(sample))
    case .queue:
      stored = KeyBuffer(numbers: Order.sequential(count: keys), shape: shape)
      // What entered first has left first.
      expected = Tally(hits: measured.count, checksum: Order.sequential(count: measured.count).reduce(0, +))
    default:
      break
    }
    if workload.isOnStored {
      let filled = KeyBuffer(numbers: Order.sequential(count: keys), shape: shape)
      stored = filled
      if let scan = workload.scan {
        expected = SortedKeys(filled, isOfKeys: scan.isOfKeys).tally(of: scan, from: measured)
      }
      // A store filled by an earlier process is slower, and already read through.
      let most = assignment.isFilled ? max(keys / 5, 200_000) : 2 * keys
      let read = Order.uniform(below: keys, count: min(most, 2_000_000), seed: ~Script.seed)
      warming = KeyBuffer(numbers: read, shape: shape)
    }
  }

  private static let seed: UInt64 = 0xE5_4E4

  private static func numbers(_ assignment: Assignment) -> [UInt64] {
    let keys = assignment.keys
    let count = assignment.operations
    switch assignment.workload {
    case .get, .getOverlapping, .getArray, .orderedGet, .multiGet, .scan, .scanKeys, .prefix, .overwrite,
      .overwriteSteady, .orderedOverwrite, .getWhileWriting:
      return Order.uniform(below: keys, count: count, seed: seed)
    case .getZipfian, .ycsbA, .ycsbB, .ycsbC, .ycsbF:
      return Order.zipfian(below: keys, count: count, seed: seed)
    case .ycsbD:
      return Order.latest(keys: keys, count: count, seed: seed, readPercent: assignment.workload.readPercent ?? 100)
    case .ycsbE:
      return Order.scanned(keys: keys, count: count, seed: seed, readPercent: assignment.workload.readPercent ?? 100)
    case .scanWhole, .scanWholeKeys:
      return [0]
    case .miss, .queue:
      return Order.sequential(from: keys, count: count)
    case .delete:
      return Order.shuffled(below: keys, count: min(count * 2, keys), seed: seed)
    default:
      return Order.sequential(count: count)
    }
  }

  /// Throws if the values read differ from those the workload wrote.
  func check(_ measurement: Measurement, of workload: Workload) throws {
    guard let expected, measurement.hits != expected.hits || measurement.checksum != expected.checksum else { return }
    throw BenchmarkError.wrongResult(
      cell: workload.rawValue,
      expected: "\(expected.hits) values with sum \(expected.checksum)",
      found: "\(measurement.hits) with sum \(measurement.checksum)"
    )
  }
}
