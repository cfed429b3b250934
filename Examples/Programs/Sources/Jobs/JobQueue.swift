import Esker

struct Job: Codable, Sendable {
  var name: String
  var attempts = 0
}

/// Jobs in the order in which they are due. Who takes one puts it back for later, and removes it when it is done: if the program ends in
/// between, the job comes again.
struct JobQueue {
  /// When it is due, in seconds, and a number that keeps equal times apart.
  typealias Due = CompositeKey<Int, UInt64>

  let store: LogStore
  let jobs: Storage<Due, Job>
  let numbers: Storage<String, UInt64>

  init(at path: String) throws {
    store = try LogStore(at: path)
    jobs = try store.storage("jobs")
    numbers = try store.storage("numbers")
  }

  func add(_ name: String, at time: Int) throws {
    try jobs.set(Job(name: name), forKey: Due(time, numbers.increment("jobs")), durability: .synced)
  }

  /// The next job that is due, put back for ten seconds later. Nobody else gets it until then.
  func take(at time: Int) throws -> (key: Due, job: Job)? {
    while let (key, entry) = try jobs.first(), key.parts.0 <= time, let version = entry.version {
      var job = entry.value
      job.attempts += 1
      let later = Due(time + 10, try numbers.increment("jobs"))
      try jobs.set(job, forKey: later)
      if try jobs.removeValue(forKey: key, ifVersion: version) { return (later, job) }
      // Somebody else was faster.
      try jobs.removeValue(forKey: later)
    }
    return nil
  }

  func done(_ key: Due) throws { try jobs.removeValue(forKey: key) }
}
