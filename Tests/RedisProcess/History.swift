import Esker
import EskerPlatform
import EskerRedis
import Foundation
import Synchronization

@testable import EskerRemote

/// Reads, writes and removes at random through three tiers, and notes each operation: see `Operation` of the tests for the form.
///
/// Which key is written changes five times a second and is the same in all processes, so there is contention first and then silence,
/// in which a copy that should not be trusted any more is seen to be. Twice as many keys are written now and then, by one process alone.
enum History {
  static func run(_ arguments: Arguments) async throws {
    let name = try arguments.text("name")
    let log = try LogStore(at: arguments.text("directory"))
    let journal = try Journal(arguments.text("journal"))
    let plant = arguments.optional("plant").flatMap { Plant(rawValue: $0) }
    let store = try client(arguments)
    var remote: any RemoteStore = store
    if let plant { remote = PlantedStore(store, plant) }
    let tiers = RemoteTiers(
      remote,
      named: "chaos",
      prefix: "c:",
      1 << 12,
      .system,
      faults: plant?.faults ?? [],
      now: nil
    )
    var options = RemoteOptions()
    options.hardTimeout = .milliseconds(700)
    let keys = arguments.number("keys", or: 32)
    // Half of all keys are in memory, the others in the log.
    let storage = try tiers.storage(
      "kv",
      of: String.self,
      memory: MemoryLimits(count: keys * 3 / 2),
      log: log,
      options: options
    )
    _ = tiers.observers.add { report in
      guard case .rolledBack(let bytes) = report else { return }
      journal.note("B \(String(decoding: bytes.dropFirst(3), as: UTF8.self)) \(now())")
    }
    try await tiers.start()
    journal.note("P \(getpid())")
    journal.flush()

    let isOver = Counter()
    let worker = Worker(storage, journal, name, keys: keys)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<arguments.number("tasks", or: 6) {
        group.addTask { while isOver.value == 0 { await worker.work() } }
      }
      group.addTask {
        await endOfInput()
        isOver.next()
      }
      await group.waitForAll()
    }
    journal.flush()
    await tiers.stop()
    try log.close()
  }
}

private final class Worker: Sendable {
  private let storage: RemoteStorage<String, String>
  private let journal: Journal
  private let name: String
  private let keys: Int
  private let count = Counter()

  init(_ storage: RemoteStorage<String, String>, _ journal: Journal, _ name: String, keys: Int) {
    self.storage = storage
    self.journal = journal
    self.name = name
    self.keys = keys
  }

  /// Some operations, and a pause.
  func work() async {
    for _ in 0..<8 {
      let hot = now() / 200_000
      if Int.random(in: 0..<6) == 0 {
        let key = Int.random(in: 0..<20) == 0 ? Int.random(in: keys..<3 * keys) : hot % keys
        await write("k\(key)", isRemoval: Int.random(in: 0..<8) == 0)
      } else {
        // What was hot a moment ago more often than others.
        let key = Bool.random() ? (hot - Int.random(in: 0..<12)) % keys : Int.random(in: 0..<3 * keys)
        await read("k\(key)")
      }
    }
    try? await Task.sleep(for: .milliseconds(1))
  }

  private func read(_ key: String) async {
    let invoked = now()
    let found: RemoteEntry<String>?
    do { found = try await storage.find(key) } catch {
      journal.note("F \(key) \(invoked) \(now())")
      return
    }
    let tier: Character =
      switch found?.tier {
      case .memory: "m"
      case .log: "l"
      case .remote: "r"
      case .replica: "p"
      case .queue: "q"
      case nil: "-"
      }
    journal.note("R \(key) \(invoked) \(now()) \(found?.value ?? "-") \(tier)")
  }

  private func write(_ key: String, isRemoval: Bool) async {
    let token = isRemoval ? "-" : "<\(name):\(count.next())>"
    let invoked = now()
    let outcome: String
    do {
      if isRemoval {
        _ = try await storage.async.removeValue(forKey: key)
      } else {
        try await storage.async.set(token, forKey: key)
      }
      outcome = "ok"
    } catch StorageError.back(_, RemoteError.unknownOutcome) {
      outcome = "unknown"
    } catch {
      outcome = "failed"
    }
    journal.note("W \(key) \(invoked) \(now()) \(token) \(outcome)")
  }
}

/// Lines in a file, written when there are many. Any thread may note.
final class Journal: Sendable {
  private struct State {
    var text: [UInt8] = []
    let descriptor: Int32
  }

  private let state: Mutex<State>

  init(_ path: String) throws {
    let descriptor = open(path, O_CREAT | O_WRONLY | O_APPEND, 0o644)
    if descriptor < 0 { throw Misuse("cannot write \(path)") }
    state = Mutex(State(descriptor: descriptor))
  }

  func note(_ line: String) {
    state.withLock { state in
      state.text += Array(line.utf8)
      state.text.append(UInt8(ascii: "\n"))
      if state.text.count > 65_536 { Self.flush(&state) }
    }
  }

  func flush() { state.withLock { Self.flush(&$0) } }

  private static func flush(_ state: inout State) {
    var written = 0
    while written < state.text.count {
      let count = state.text[written...].withUnsafeBytes { write(state.descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { break }
      written += count
    }
    state.text = []
  }
}
