/// The project's goals, nearly all relative to what is measured in the same run.
enum GoalTable {
  /// The verdicts on all goals that the results cover.
  static func verdicts(_ results: [CellResult]) -> [Verdict] {
    all.flatMap { goal in
      results.filter { $0.cell == goal.cell && goal.keys.contains($0.keys) }.compactMap { result in
        goal.judge(result, results).map { judged in
          Verdict(
            title: goal.title,
            keys: result.keys,
            wanted: goal.wanted,
            measured: judged.measured,
            isMet: judged.isMet
          )
        }
      }
    }
  }

  private static var all: [Goal] { reading + writing + ordered + mixed + waiting + bounded + typed }

  private static let many = 10_000_000...Int.max
  private static let few = 0...9_999_999

  private static let reading: [Goal] = [
    .peer(1.5, "get random", "get", keys: few),
    .peer(1.2, "get random", "get", keys: many),
    .limit(0.85, "get random", "get"),
    .peer(1.2, "get random, 2 threads", "get-2-threads"),
    scaling,
    .peer(1.8, "get zipfian", "get-zipfian"),
    .limit(0.85, "get zipfian", "get-zipfian"),
    .peer(2.5, "get zipfian, 2 threads", "get-zipfian-2-threads"),
    .limit(0.85, "get zipfian, 2 threads", "get-zipfian-2-threads"),
    .peer(6, in: "get", "multi-get of 32", "multi-get"),
    .limit(0.5, "multi-get of 32", "multi-get"),
    .peer(2.5, "get missing", "miss"),
    .limit(0.8, "get missing", "miss"),
    .peer(1.2, "4 KiB values, get", "get-4096B"),
    .limit(0.9, "4 KiB values, get", "get-4096B"),
    .peer(1.1, "64 KiB values, get", "get-65536B"),
    .limit(0.9, "64 KiB values, get", "get-65536B"),
    growingStore,
  ]

  private static let writing: [Goal] = [
    .peer(1.5, "fill random", "fill", keys: few),
    .peer(2, "fill random", "fill", keys: many),
    .limit(0.5, "fill random", "fill"),
    .batched(1, .lmdbBatched, "fill sequential, a thousand at once", "fill-sequential"),
    .subject(2, .lmdb, "fill sequential, one by one", "fill-sequential"),
    .limit(0.6, "fill sequential", "fill-sequential"),
    .peer(1.5, "overwrite, merging on", "overwrite"),
    .limit(0.6, "overwrite, merging on", "overwrite"),
    .peer(2.5, "delete", "delete"),
    .limit(0.4, "delete", "delete"),
    .peer(4, "4 KiB values, fill", "fill-4096B"),
    .limit(0.8, "4 KiB values, fill", "fill-4096B"),
    .peer(1.1, "64 KiB values, fill", "fill-65536B"),
    .limit(0.9, "64 KiB values, fill", "fill-65536B"),
  ]

  private static let ordered: [Goal] = [
    .subject(0.7, .lmdb, "100 entries in order", "scan-100"),
    .subject(2.5, .rocksdb, "100 entries in order", "scan-100"),
    .subject(2.5, .sqlite, "100 entries in order", "scan-100"),
    .subject(4, .kyotoTree, "100 entries in order", "scan-100"),
    .rate(5_000_000, "all keys in order", "scan-whole-keys"),
    .subject(0.6, .eskerUnordered, "fill, kept in order", "ordered-fill"),
    .subject(2, .lmdb, "fill, kept in order", "ordered-fill"),
    .subject(0.98, .eskerUnordered, "get random, kept in order", "ordered-get"),
    .subject(0.98, .eskerUnordered, "overwrite, kept in order", "ordered-overwrite"),
    .rate(500_000, "append and take the first of a queue", "queue"),
  ]

  private static let mixed: [Goal] = [
    .peer(1.5, "YCSB A", "ycsb-a"),
    .limit(0.75, "YCSB A", "ycsb-a"),
    .peer(1.8, "YCSB B", "ycsb-b"),
    .limit(0.85, "YCSB B", "ycsb-b"),
    .peer(1.6, "YCSB C", "ycsb-c"),
    .limit(0.85, "YCSB C", "ycsb-c"),
    .peer(1.5, "YCSB F", "ycsb-f"),
    .limit(0.75, "YCSB F", "ycsb-f"),
  ]

  private static let waiting: [Goal] = [
    .peer(1.1, "durable commits, 1 thread", "synced"),
    .limit(0.95, "durable commits, 1 thread", "synced"),
    .peer(1.4, "durable commits, 16 threads", "synced-16-threads"),
    .limit(0.95, "durable commits, 16 threads", "synced-16-threads"),
    manyTasks,
    .limit(80, "durable commits, 1,000 tasks", "synced-1000-tasks"),
    openClean,
    openOrdered,
    .subject(20, .leveldb, "open after a crash without a checkpoint", "open-scanned"),
    .limit(0.6, "open after a crash without a checkpoint", "open-scanned"),
  ]

  private static let bounded: [Goal] = [
    .figure("index B/key, mean over the fill", ...15, "index memory, B a key on average", "growth"),
    .figure("index B/key, most at any moment", ...17, "index memory, B a key at every moment", "growth"),
    .figure("put p99.9, µs", ...20, "put p99.9, merging on, µs", "overwrite-merging"),
    .figure("get p99.9, µs", ...5, "get p99.9, merging on, µs", "overwrite-merging"),
    .figure("slowest put, ms", ...10, "slowest put, merging on, ms", "overwrite-merging"),
    .figure("most on disk, of live bytes", ...1.5, "steady overwrite, space over live bytes", "overwrite-merging"),
    .figure("write amplification", ...2, "steady overwrite, write amplification", "overwrite-merging"),
    .subject(2, .limit, "images in a cache on disk, over a file each", "capacity-images"),
    .figure(EskerSubject.shareAlone, 0.97..., "overwrites alone in turn, of exclusive", "turns"),
    .figure(EskerSubject.suspending, ...5, "suspend p99, ms", "turns"),
    .figure(EskerSubject.resuming, ...2, "resume p99, ms", "turns"),
    .figure(EskerSubject.handingOver, ...1, "hand-over beside a busy writer p99, ms", "turns"),
    packedSpace,
    .subject(4, .rocksdb, "documents, gets", "documents"),
    .figure(
      EskerSubject.leastLead,
      (-0.005)...,
      "memory front, least hit ratio over the best policy's",
      "hybrid-trace"
    ),
    .figure(EskerSubject.meanLead, 0..., "memory front, mean hit ratio over S3-FIFO's", "hybrid-trace"),
  ]

  private static let typed: [Goal] =
    [("set", "typed-set"), ("get", "typed-get")].flatMap { name, cell -> [Goal] in
      [
        .subject(5, .grdb, "typed \(name), JSON", cell + "-json"),
        .limit(0.85, "typed \(name), JSON", cell + "-json"),
        .subject(30, .grdb, "typed \(name), binary", cell + "-binary"),
        .limit(0.6, "typed \(name), binary", cell + "-binary"),
      ]
    } + [.limit(0.5, "hybrid, warm get", "hybrid-get")]

  private static let scaling = Goal(
    title: "get random, 2 threads",
    cell: "get-2-threads",
    wanted: "1.9 × one thread"
  ) { result, all in
    guard
      let one = all.first(where: { $0.cell == "get" && $0.keys == result.keys }),
      let two = result.rate(.esker), let single = one.rate(.esker)
    else { return nil }
    return (Format.ratio(two / single), two / single >= 1.9)
  }

  /// The keys of a synced cell are its commits, so the two cells have different numbers of them.
  private static let manyTasks = Goal(
    title: "durable commits, 1,000 tasks",
    cell: "synced-1000-tasks",
    wanted: "20 × leveldb in synced-16-threads"
  ) { result, all in
    guard
      let theirs = all.first(where: { $0.cell == "synced-16-threads" })?.rate(.leveldb), let mine = result.rate(.esker)
    else { return nil }
    return (Format.ratio(mine / theirs) + " × leveldb", mine / theirs >= 20)
  }

  private static let growingStore = Goal(
    title: "get random, time at 100 M keys",
    cell: "get",
    keys: 100_000_000...Int.max,
    wanted: "at most 1.6 × that at 10 M"
  ) { result, all in
    guard
      let smaller = all.first(where: { $0.cell == "get" && $0.keys == 10_000_000 })?.rate(.esker),
      let rate = result.rate(.esker)
    else { return nil }
    return (Format.ratio(smaller / rate), smaller / rate <= 1.6)
  }

  private static let openClean = opening("open to first get after a clean close", "open-clean", within: 2)
  private static let openOrdered = opening("open to first range after a clean close", "open-ordered", within: 3)

  private static func opening(_ title: String, _ cell: String, within most: Double) -> Goal {
    Goal(title: title, cell: cell, wanted: "at most \(Int(most)) ms") { result, _ in
      result.rate(.esker).map { rate in
        let milliseconds = Double(result.keys) / rate * 1_000
        return ("\(Format.ratio(milliseconds)) ms", milliseconds <= most)
      }
    }
  }

  private static let packedSpace = Goal(
    title: "documents, bytes on disk",
    cell: "documents",
    wanted: "at most 0.8 of rocksdb's"
  ) { result, _ in
    guard let mine = result.bytes(\.diskBytes, .esker), let theirs = result.bytes(\.diskBytes, .rocksdb) else {
      return nil
    }
    return (Format.ratio(mine / theirs), mine / theirs <= 0.8)
  }
}
