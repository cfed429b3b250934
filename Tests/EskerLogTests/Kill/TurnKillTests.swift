import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Processes that write to one store in turn, of which now and then one is killed or stopped.
@Suite(.serialized) struct TurnKillTests {
  private static let count = 3
  /// How many turns are taken before the end.
  private static let turns = UInt64(Rounds.count(300, thorough: 10_000))

  @Test(.timeLimit(.minutes(60)))
  func whoeverIsKilledOrStoppedLosesNothingAndKeepsNobodyWaiting() throws {
    var generator = SeededGenerator(announcedFor: "TurnKillTests")
    let directory = try TemporaryDirectory()
    let path = directory.appending("store")
    let progress = directory.appending("progress")
    let file = try OSFileSystem().open(progress, .create)
    try file.reserve(4096)
    let mapping = try file.map(capacity: 4096, writable: true)
    try mapping.extend(to: 4096)
    func words(_ process: Int) -> [UInt64] {
      let first = mapping.base.assumingMemoryBound(to: UInt64.self) + process * TurnScript.words
      return Array(UnsafeBufferPointer(start: first, count: TurnScript.words))
    }
    func start(_ process: Int) throws -> (process: pid_t, output: Int32) {
      try ChildProgram.start("esker-crash-writer", ["--turns", path, "\(process)", progress])
    }
    var children = try (0..<Self.count).map { try start($0) }
    defer { for child in children { end(child) } }
    var (kills, stops) = (0, 0)
    var turns: UInt64 = 0
    while turns < Self.turns {
      usleep(UInt32.random(in: 1_000...40_000, using: &generator))
      let number = Int.random(in: 0..<Self.count, using: &generator)
      if generator.oneIn(3) {
        end(children[number])
        children[number] = try start(number)
        kills += 1
      } else {
        // Longer than the turn of another takes, and maybe amid its own.
        kill(children[number].process, SIGSTOP)
        usleep(UInt32.random(in: 100...20_000, using: &generator))
        kill(children[number].process, SIGCONT)
        stops += 1
      }
      for (number, child) in children.enumerated() where waitpid(child.process, nil, WNOHANG) == child.process {
        Issue.record("process \(number) ended by itself: \(output(child.output))")
        return
      }
      turns = (try? LockFile(in: path, OSFileSystem()).words()?.turn) ?? 0
    }
    for child in children { end(child) }
    children = []
    try check(path, (0..<Self.count).map { words($0)[0] })
    let none = [UInt64](repeating: 0, count: TurnScript.words)
    let waits = (0..<Self.count).map(words).reduce(none) { zip($0, $1).map(+) }
    print(
      "TurnKillTests: \(turns) turns, \(kills) kills, \(stops) stops, \(waits[0]) writes, of which \(waits[1]) took more than 0.1 ms: "
        + "half of these less than \(TurnScript.wait(0.5, waits) / 1_000) us, 99 % less than \(TurnScript.wait(0.99, waits) / 1_000) us"
    )
  }

  /// What all processes have counted is what each of them has, and nothing that had returned is missing.
  private func check(_ path: String, _ returned: [UInt64]) throws {
    let store = try LogStore(at: path)
    func number(_ key: String) throws -> UInt64 {
      try store.get(key).flatMap { UInt64(String(decoding: $0, as: UTF8.self)) } ?? 0
    }
    var sum: UInt64 = 0
    for process in 0..<Self.count {
      let found = try number(TurnScript.key(process))
      #expect([returned[process], returned[process] + 1].contains(found), "process \(process)")
      sum += found
      for slot in found - min(found, TurnScript.slots - 1)...found where slot > 0 {
        let value = try store.get(TurnScript.slot(slot, of: process))
        #expect(value == TurnScript.value(slot), "process \(process), \(slot)")
      }
    }
    #expect(try number(TurnScript.counter) == sum)
    #expect(try store.verify().damage.filter { !$0.location.path.contains("manifest") } == [])
    try store.close()
  }

  private func end(_ child: (process: pid_t, output: Int32)) {
    kill(child.process, SIGKILL)
    waitpid(child.process, nil, 0)
    close(child.output)
  }

  private func output(_ pipe: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(pipe, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}
