import Esker

/// Reports on standard output how many records are certainly stored.
struct Acknowledgements: ~Copyable {
  private var output = BufferedOutput.standard()
  private let interval: Int
  private let syncs: Bool
  private var nextDue: Int
  private var lastSent: Int?

  /// Acknowledges after every `interval` records; nil: never.
  init(every interval: Int?, syncs: Bool) {
    self.interval = interval ?? .max
    self.syncs = syncs
    nextDue = self.interval
  }

  func isDue(_ records: Int) -> Bool { records >= nextDue }

  /// Acknowledges `records`, after making them as durable as requested.
  mutating func send(_ records: Int, of store: LogStore) throws {
    nextDue = records + interval
    if syncs { try store.sync() }
    try send(records)
  }

  /// Acknowledges the records since the last interval.
  mutating func finish(_ records: Int) throws(ToolError) {
    if interval != .max, lastSent != records { try send(records) }
  }

  private mutating func send(_ records: Int) throws(ToolError) {
    lastSent = records
    do throws(ToolError) {
      try output.write("\(records)\n")
      try output.flush()
    } catch .outputClosed {
      // Nobody is reading any more, but the remaining records must still be loaded.
      output = .standard()
    }
  }
}
