import CFork
import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What became of one schedule.
struct Outcome {
  let failure: String?
  let hash: UInt64
  let steps: Int
  /// What happened; nothing for a run that ended well, unless it was asked for.
  let events: [ScheduleEvent]

  /// What differed from the usual choices: enough to run it again.
  var deviations: [Int: Int] {
    var list: [Int: Int] = [:]
    for event in events where event.deviates { list[Int(event.step)] = Int(event.chosen) }
    return list
  }
}

/// Runs schedules of a scenario, each in a process of its own: none finds what another one left, and one that traps ends only itself.
final class Runner {
  let scenario: Scenario
  let trace: ScheduleTrace
  private(set) var count = 0
  private(set) var points = 0

  init(_ scenario: Scenario, _ trace: ScheduleTrace) {
    self.scenario = scenario
    self.trace = trace
  }

  func run(_ plan: SchedulePlan, keepsEvents: Bool = false) -> Outcome {
    trace.clear()
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { fatalError("there is no pipe") }
    let child = esker_fork()
    guard child >= 0 else { fatalError("there is no process") }
    if child == 0 {
      dup2(ends[1], 2)
      close(ends[0])
      close(ends[1])
      // What loops or sleeps without a point.
      alarm(30)
      Schedule.run(plan, trace) { always("the scenario ends") { try scenario.body() } }
      _exit(0)
    }
    close(ends[1])
    let words = Self.readAll(ends[0])
    close(ends[0])
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    count += 1
    points += trace.points
    let failure = failure(status, words)
    return Outcome(
      failure: failure,
      hash: trace.hash,
      steps: trace.steps,
      events: keepsEvents || failure != nil ? Array(trace.events) : []
    )
  }

  private func failure(_ status: Int32, _ words: String) -> String? {
    let signal = status & 0x7F
    if signal == SIGALRM { return "no point for 30 seconds" }
    if signal != 0 { return "ended by signal \(signal): \(words.split(separator: "\n").first ?? "")" }
    if let failure = trace.failure { return failure }
    return status == 0 ? nil : "ended with status \(status >> 8): \(words)"
  }

  private static func readAll(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let length = read(descriptor, &buffer, buffer.count)
      if length > 0 { bytes += buffer[..<length] } else if length == 0 || errno != EINTR { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
