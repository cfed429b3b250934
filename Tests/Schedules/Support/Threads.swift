import EskerPlatform

/// What a thread of a scenario does.
struct Part: Sendable {
  let name: String
  let body: @Sendable () throws -> Void

  init(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
    self.name = name
    self.body = body
  }
}

/// Runs some threads beside each other, until the last has ended.
func together(_ parts: Part...) {
  let threads = parts.map { part in
    do {
      return try WorkerThread(name: part.name) { always("\(part.name) ends") { try part.body() } }
    } catch {
      Schedule.fail("there is no thread: \(error)")
    }
  }
  for thread in threads { thread.join() }
}

/// Runs what must not throw.
func always(_ what: String, _ body: () throws -> Void) {
  do { try body() } catch { Schedule.fail("\(what), but it threw: \(error)") }
}

/// Fails the run if something does not hold.
func expect(_ condition: Bool, _ reason: @autoclosure () -> String) {
  if !condition { Schedule.fail(reason()) }
}
