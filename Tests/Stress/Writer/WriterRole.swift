import EskerLog
import EskerPlatform
import EskerTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The process that writes. It opens the store, looks whether all that was acknowledged is there, writes, and closes when it is
/// told to; or it is killed.
struct WriterRole {
  private let assignment: Assignment
  private let parent = getppid()

  init(_ assignment: Assignment) {
    self.assignment = assignment
  }

  func run() {
    do {
      let scene = try Scene(assignment, who: "writer")
      guard
        let store = scene.expectNoError(
          "opening throws",
          "opening for writing",
          { () throws in
            try LogStore(at: scene.storePath, options: scene.options(readOnly: false))
          }
        )
      else { return }
      try work(scene, store)
    } catch {
      StandardStreams.complain("writer: \(error)")
      exitProcess(3)
    }
  }

  private func work(_ scene: Scene, _ store: LogStore) throws {
    let ledger = scene.ledger
    if ledger[.life] == 0 {
      fill(scene, store)
    } else {
      let done = scene.scripts.indices.map { ledger.done($0) }
      let last = Look.state(of: store, scene, subject: "reopened store", floor: done)
      for thread in done.indices where last[thread] > done[thread] {
        // It took effect, though nobody was told.
        ledger.end(last[thread], of: thread, sequence: store.lastSequence.rawValue, isExact: false)
      }
    }
    ledger[.life] += 1
    let life = ledger[.life]
    let gate = Gate(threads: scene.scripts.count)
    var workers: [WorkerThread] = []
    for script in scene.scripts {
      let thread = ScriptThread(scene, store, script, gate)
      workers.append(try WorkerThread(name: "script") { thread.run() })
    }
    workers += try Upkeep(scene, store).start()
    while ledger[.lifeToEnd] < life, ledger[.isOver] == 0 {
      // Whoever started this process is gone.
      if getppid() != parent { exitProcess(4) }
      if ledger.isResting { rest(scene, store, gate) }
      pauseThread(microseconds: 500)
    }
    for worker in workers { worker.join() }
    _ = scene.expectNoError("closing throws", "close") { try store.close() }
  }

  /// All that is always there, run by run.
  private func fill(_ scene: Scene, _ store: LogStore) {
    let filled: Void? = scene.expectNoError("write throws", "a first batch") {
      for script in scene.scripts {
        let value = script.value(of: 0)
        let width = script.layout.width(.hot)
        for start in stride(from: 0, to: script.layout.start(.single), by: width) {
          try store.write { (batch) throws(StoreError) in
            for place in start..<start + width {
              try batch.put(value, forKey: scene.places.key(place, thread: script.thread))
            }
          }
        }
      }
    }
    guard filled != nil else { return }
    if scene.mailbox != nil { _ = scene.expectNoError("sync throws", "the first sync") { try store.sync() } }
    for thread in scene.scripts.indices {
      scene.ledger.end(0, of: thread, sequence: store.lastSequence.rawValue, isExact: false)
    }
    for thread in scene.scripts.indices { scene.tellDurable(0, of: thread) }
  }

  /// Nobody writes: now it is known to the number what everybody must see.
  private func rest(_ scene: Scene, _ store: LogStore, _ gate: Gate) {
    let ledger = scene.ledger
    let asked = ledger[.restAsked]
    while gate.running > 0 { pauseThread(microseconds: 200) }
    ledger[.restSequence] = store.lastSequence.rawValue
    ledger[.restReached] = asked
    var look = Look(scene, store, work: 1, floor: scene.scripts.indices.map { ledger.done($0) })
    look.walk(pauses: 0, isRepeated: true, sequence: ledger[.restSequence])
    ledger.setReached(0, asked)
    while ledger[.restOver] < asked, ledger[.isOver] == 0 {
      if getppid() != parent { exitProcess(4) }
      pauseThread(microseconds: 200)
    }
  }
}
