import ArgumentParser
import Esker

/// The operations of a benchmark.
enum BenchWorkload: String, ExpressibleByArgument, CaseIterable {
  /// Puts of new keys, as many as there are records.
  case fill
  /// Gets of uniformly chosen keys.
  case read
  /// Gets and puts, in equal parts unless others are chosen, of uniformly chosen keys.
  case mixed
  /// Gets with a Zipfian distribution: a few keys are read again and again.
  case zipfian
  /// Puts that return once they survive a power failure.
  case durable
}

/// The size of a benchmark.
struct BenchPlan {
  var records: Int
  var keyLength: Int
  var valueLength: Int
  var threads: Int
  /// The duration of each workload except the fill.
  var seconds: Double
  /// How many calls of a mixture are gets, in percent.
  var reads = 50
  /// The keys and values to use, as many as there are records; nil to make some up.
  var data: BenchData?
}

/// Keys and values of a store, in memory.
struct BenchData {
  private(set) var entries: [(key: [UInt8], value: [UInt8])] = []

  /// The entries of a keyspace, up to a number; the store is only read.
  init(of store: LogStore, keyspace: String?, limit: Int, _ progress: Progress) throws {
    guard limit > 0 else { return }
    let isIntact = try forEachEntry(of: store, in: keyspace ?? "", progress) { entry in
      entries.append((try entry.key(), try entry.value()))
      return entries.count < limit
    }
    guard isIntact else { throw ToolError.damageFound }
  }

  var meanKeyLength: Int { entries.reduce(0) { $0 + $1.key.count } / max(1, entries.count) }
  var meanValueLength: Int { entries.reduce(0) { $0 + $1.value.count } / max(1, entries.count) }
}

/// The results of one workload.
struct BenchResult {
  var workload: BenchWorkload
  var operations = 0
  var seconds = 0.0
  var latencies = Statistics.Histogram()

  var rate: Double { Double(operations) / max(seconds, 1e-9) }
}
