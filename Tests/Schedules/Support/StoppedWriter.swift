import EskerPlatform

@testable import EskerLog

/// Stops a writer amid its announcements: right before a record that replaces another is published, or right behind that.
final class StoppedWriter: Sendable {
  private let isArmed = Guarded(false, .unranked)

  /// From now on, the next one that comes there stops.
  func arm() {
    Schedule.note("will stop the writer")
    isArmed.withLock { $0 = true }
  }

  /// Opens a store that is stopped so.
  ///
  /// - Parameter onStop: Called before it stops, under the writer's lock.
  func open(_ machine: Machine, onStop: @escaping @Sendable () throws -> Void) throws(StoreError) -> LogStore {
    var host = machine.host
    let (disk, path) = (machine.disk, machine.path)
    host.onPublish = { [self] in
      guard isArmed.withLock({ $0 }), (try? LockFile(in: path, disk).words())??.isReplacing == true else { return }
      isArmed.withLock { $0 = false }
      Schedule.note("stops amid a replacement")
      always("nothing is wrong where it stops", onStop)
      Platform.stopForLong()
      Schedule.note("goes on")
    }
    return try LogStore(at: path, options: machine.options(), host: host)
  }
}

extension Machine {
  /// For another process: its clock goes on whenever it is read, and a minute is for ever.
  func ofAnotherProcess() -> Machine {
    var other = Machine()
    (other.disk, other.calls) = (disk, calls)
    let (time, watch) = (other.clock, WatchedClock(other.clock))
    let start = time.monotonicNanoseconds()
    watch.onReading {
      time.advance(milliseconds: 10)
      expect(time.monotonicNanoseconds() - start < 60_000_000_000, "another process waits for ever")
    }
    other.watch = watch
    return other
  }
}

extension StoreProbe {
  /// Watches for other processes that ask for the files, on a thread of its own, as a store with threads does. What is returned ends that.
  func watchTurns() throws -> () -> Void {
    guard let session = engine.env.session else { return {} }
    let watch = try TurnWatch(session) { [engine] in engine.handOver() }
    return { watch.stop() }
  }
}
