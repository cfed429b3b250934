import Esker
import EskerPlatform
import EskerTestSupport
import Synchronization
import Testing

@testable import EskerRemote

/// A producer that waits until it is let go, and counts.
final class ProducerDouble: Sendable {
  struct Broken: Error {}

  private struct State {
    var runs = 0
    var running = 0
    var atOnce = 0
    /// How many runs may end, and how many of those fail first.
    var permitted = 0
    var failures = 0
    var cancelled = 0
  }

  private let state = Mutex(State())

  /// How often it was begun, and how often at most at the same time.
  var runs: Int { state.withLock { $0.runs } }
  var atOnce: Int { state.withLock { $0.atOnce } }
  var cancelled: Int { state.withLock { $0.cancelled } }

  /// Lets some runs end; the first of all fail.
  func permit(_ count: Int = 1_000, failing failures: Int = 0) {
    state.withLock {
      $0.permitted += count
      $0.failures += failures
    }
  }

  /// Lets all runs end, and well.
  func permitAll() {
    state.withLock {
      $0.permitted = 1_000_000
      $0.failures = 0
    }
  }

  func make() async throws -> String {
    let number = state.withLock { state in
      state.runs += 1
      state.running += 1
      state.atOnce = max(state.atOnce, state.running)
      return state.runs
    }
    defer { state.withLock { $0.running -= 1 } }
    var isGood = true
    do {
      #expect(
        try await eventually {
          state.withLock { state in
            guard state.permitted > 0 else { return false }
            state.permitted -= 1
            isGood = state.failures == 0
            if !isGood { state.failures -= 1 }
            return true
          }
        }
      )
    } catch {
      state.withLock { $0.cancelled += 1 }
      throw error
    }
    guard isGood else { throw Broken() }
    return "made \(number)"
  }
}

/// Tiers over one server, as each of several processes has them.
struct TinyProcess: Sendable {
  let tiers: RemoteTiers
  let store: TinyStore
  let texts: RemoteStorage<String, String>

  init(_ server: TinyServer, _ options: RemoteOptions) async throws {
    store = server.store()
    tiers = RemoteTiers(store, named: "test", prefix: "p:", 1_024, .system) { server.now }
    try await tiers.start()
    texts = try tiers.storage("texts", options: options)
  }

  /// How many of its tasks produce, wait for another process, or are about to.
  var watches: Int { tiers.core.state.withLock { $0.watches.everyone.count } }

  /// Nothing is under way, nobody waits.
  var isQuiet: Bool { tiers.core.state.withLock { $0.active.count == 0 && $0.watches.isEmpty } }
}

extension TinyServer {
  /// How many locks there are.
  var locks: Int {
    loop.sync { values.keys.filter { $0.starts(with: Array("#lock:".utf8)) && current($0) != nil }.count }
  }
}
