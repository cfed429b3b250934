/// What one round does: the options of its store, who writes, who reads, and how.
///
/// A number for each thing, so that it can be written on one line and given back with `--with`.
struct Configuration: Equatable, Sendable {
  /// 1: the files are in memory, if the system has such a file system: syncs take no time, so more happens at once.
  var memory = 0
  /// Bytes of a segment.
  var segment = 1 << 20
  /// Keys of a batch that all carry one number; 1: single puts.
  var batch = 50
  /// Keys that are always there, of all threads together.
  var keys = 1000
  /// Least bytes of a value.
  var value = 8
  /// Threads that write.
  var threads = 1
  /// 1: removals, expiry, batches over two keyspaces and emptied keyspaces beside the keys that are always there.
  var mixed = 0
  /// 1: now and then a value that is larger than a small segment.
  var large = 0
  /// 0: nothing is synced; 1: now and then; 2: every write.
  var synced = 0
  /// 1: merges in the background.
  var merging = 1
  /// Bytes that each live byte may take, in tenths.
  var amplification = 14
  /// Threads that merge on demand.
  var mergers = 0
  /// Bytes that the store may take; 0: any.
  var capacity = 0
  /// 1: merges pack.
  var packing = 0
  /// Threads of the writer that walk snapshots.
  var walkers = 0
  /// Threads of the writer that get keys without a pause.
  var getters = 1
  /// Processes that open the store anew each time.
  var openers = 1
  /// Processes that keep it open and follow.
  var followers = 1
  /// 1: the writer verifies, and so do readers.
  var verifying = 0
  /// 1: backups, by readers and by the writer.
  var backups = 0
  /// Microseconds that a writer rests after each 64 writes.
  var pause = 0
  /// Times that the writer is killed; otherwise it closes and opens again.
  var kills = 0
  /// 1: on a disk that loses power, with a host that is told what is durable; see Tools/power-cuts.
  var cuts = 0
  /// Threads that sync now and then.
  var syncers = 0
  /// 1: writes are said to be durable that were not synced, which is to be found.
  var planted = 0

  /// The names of the numbers, as they are written.
  static var fields: [(name: String, path: WritableKeyPath<Configuration, Int>)] {
    [
      ("memory", \.memory), ("segment", \.segment), ("batch", \.batch), ("keys", \.keys), ("value", \.value),
      ("threads", \.threads),
      ("mixed", \.mixed), ("large", \.large), ("synced", \.synced), ("merging", \.merging),
      ("amplification", \.amplification), ("mergers", \.mergers), ("capacity", \.capacity), ("packing", \.packing),
      ("walkers", \.walkers), ("getters", \.getters), ("openers", \.openers), ("followers", \.followers),
      ("verifying", \.verifying),
      ("backups", \.backups), ("pause", \.pause), ("kills", \.kills),
      ("cuts", \.cuts), ("syncers", \.syncers), ("planted", \.planted),
    ]
  }

  /// `segment=65536 batch=50 ...`
  var text: String {
    Self.fields.map { "\($0.name)=\(self[keyPath: $0.path])" }.joined(separator: " ")
  }

  /// Changes what `text` names and leaves the rest.
  mutating func apply(_ text: some StringProtocol) throws(UsageError) {
    for item in text.split(whereSeparator: { $0 == " " || $0 == "," }) {
      let parts = item.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, let value = Int(parts[1]), value >= 0,
        let field = Self.fields.first(where: { $0.name == parts[0] })
      else { throw UsageError("no part of a configuration: \(item)") }
      self[keyPath: field.path] = value
    }
    guard batch > 0, keys >= batch, (1...Ledger.mostThreads).contains(threads), value >= 8,
      openers + followers <= Ledger.mostReaders
    else { throw UsageError("not a possible configuration: \(self.text)") }
  }
}
