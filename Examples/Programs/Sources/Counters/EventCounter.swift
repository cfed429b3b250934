import Esker

/// Counts events for each day and kind. Keys begin with the day, so all of a day are beside each other.
struct EventCounter {
  let store: LogStore
  let counts: Storage<CompositeKey<String, String>, Int>

  init(at path: String) throws {
    // A power failure may take the last tenth of a second; the end of the process takes nothing.
    store = try LogStore(at: path, options: Options(durability: .periodic(.milliseconds(100))))
    counts = try store.storage("counts")
  }

  func count(_ kind: String, on day: String, times: Int = 1) throws {
    try counts.increment(CompositeKey(day, kind), by: times)
  }

  func total(of day: String) throws -> Int {
    try counts.entries(in: .prefix(day)).reduce(0) { $0 + $1.entry.value }
  }

  /// The kinds of a day, the most frequent first.
  func ranking(of day: String) throws -> [(kind: String, count: Int)] {
    try counts.entries(in: .prefix(day)).map { ($0.key.parts.1, $0.entry.value) }.sorted { $0.1 > $1.1 }
  }

  /// Removes all days before `day`.
  func forget(before day: String) throws -> Int {
    try counts.removeAll(in: .upTo(CompositeKey(day, "")))
  }
}
