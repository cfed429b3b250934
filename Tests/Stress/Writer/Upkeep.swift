import EskerLog
import EskerPlatform
import EskerTestSupport

/// The threads of a writing process that do not write: they walk, get, merge, verify and back up.
struct Upkeep {
  private let scene: Scene
  private let store: LogStore
  private let life: UInt64

  init(_ scene: Scene, _ store: LogStore) {
    self.scene = scene
    self.store = store
    life = scene.ledger[.life]
  }

  func start() throws -> [WorkerThread] {
    let configuration = scene.configuration
    var threads: [WorkerThread] = []
    for number in 0..<configuration.walkers {
      threads.append(try start("walker") { walk(work: 10 + number) })
    }
    for number in 0..<configuration.mergers {
      threads.append(try start("merger") { merge(work: 20 + number) })
    }
    for number in 0..<configuration.getters {
      threads.append(try start("getter") { get(work: 30 + number) })
    }
    for _ in 0..<configuration.syncers { threads.append(try start("syncer") { sync() }) }
    if configuration.verifying != 0 { threads.append(try start("verifier") { verify() }) }
    if configuration.backups != 0 { threads.append(try start("backup") { backUp(work: 40) }) }
    return threads
  }

  private func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws -> WorkerThread {
    try WorkerThread(name: name, body)
  }

  private var goesOn: Bool { scene.ledger[.lifeToEnd] < life && scene.ledger[.isOver] == 0 }

  private func walk(work: Int) {
    var look = Look(scene, store, work: work)
    while goesOn { look.next() }
  }

  private func get(work: Int) {
    var gets = Gets(scene, store, work: work, isReader: false)
    while goesOn {
      gets.next()
      if scene.isInterrupted { pauseThread(microseconds: 200) }
    }
  }

  /// All that is due, or some segments, one after the other.
  private func merge(work: Int) {
    var draw = SeededGenerator(seed: scene.seed(for: work))
    while goesOn {
      let segments = store.statistics.segments.filter(\.isSealed).map(\.id)
      let chosen = draw.oneIn(3) ? Array(segments.shuffled(using: &draw).prefix(2)) : nil
      _ = scene.expectNoError("merge throws", "merge(segments: \(chosen.map { "\($0)" } ?? "nil"))") {
        try store.merge(segments: chosen)
      }
      if draw.oneIn(12) { _ = scene.expectNoError("an erasure throws", "eraseNow()") { try store.eraseNow() } }
      if draw.oneIn(4) {
        _ = scene.expectNoError("removal of what expired throws", "removeAllExpired()") { try store.removeAllExpired() }
      }
      if draw.oneIn(2) { scene.waitForPuts(1 << Int.random(in: 0...11, using: &draw)) }
      if scene.isInterrupted { pauseThread(microseconds: 500) }
    }
  }

  private func sync() {
    var draw = SeededGenerator(seed: scene.seed(for: 50))
    while goesOn {
      let done = scene.scripts.indices.map { scene.ledger.done($0) }
      guard scene.expectNoError("sync throws", "sync()", { try store.sync() }) != nil else { return }
      for thread in done.indices { scene.tellDurable(done[thread], of: thread) }
      pauseThread(microseconds: Int.random(in: 0...20_000, using: &draw))
    }
  }

  private func verify() {
    while goesOn {
      Verification.run(scene, store, "the writer's store")
      _ = scene.expectNoError("read throws", "countExpired()") { try store.countExpired() }
      scene.waitForPuts(1000)
      pauseThread(microseconds: 2000)
    }
  }

  private func backUp(work: Int) {
    var backups = Backups(scene, work: work)
    while goesOn {
      backups.next(of: store, by: "the writer")
      scene.waitForPuts(5000)
      pauseThread(microseconds: 5000)
    }
  }
}
