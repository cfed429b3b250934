/// What the servers did to each key, in order: what survived, and what was lost when a replica took over.
struct Truth {
  struct Event {
    var time: Int
    /// Nil for a removal.
    var token: String?
    var version: [UInt8] = []
    /// Which server executed it.
    var server: Int
    /// In which takeover it was lost; nil if it survived.
    var lostIn: Int?
  }

  /// A primary was replaced, or may have been.
  struct Takeover {
    var begin: Int
    var end: Int
    var old: Int
    var new: Int
    /// Acknowledgements of this time may have outrun the monitor.
    var killedAt: Int?
  }

  private(set) var events: [String: [Event]] = [:]
  private(set) var places: [String: Int] = [:]
  private(set) var lost = 0
  let takeovers: [Takeover]

  /// - Parameter servers: what each server has executed.
  init(_ servers: [[Execution]], _ takeovers: [Takeover]) {
    self.takeovers = takeovers
    var lostIn = servers.map { _ in [Int: Int]() }
    for (number, takeover) in takeovers.enumerated() {
      let replicated = Set(servers[takeover.new].compactMap { $0.isReplicated ? $0.token : nil })
      let window = servers[takeover.old].indices.filter {
        let execution = servers[takeover.old][$0]
        return !execution.isReplicated && takeover.begin - 2_000_000 <= execution.time && execution.time <= takeover.end
      }
      // Replication is a stream: what is behind the last that arrived is lost.
      let last = window.last { servers[takeover.old][$0].token.map { replicated.contains($0) } ?? false }
      let lastToken = last.flatMap { servers[takeover.old][$0].token }
      let heard = servers[takeover.new].lastIndex { $0.isReplicated && $0.token != nil && $0.token == lastToken }
      let removalsBehind = Set(
        servers[takeover.new][(heard ?? servers[takeover.new].count)...]
          .filter { $0.isReplicated && $0.token == nil && $0.time <= takeover.end }.map(\.key)
      )
      for place in window where last.map({ place > $0 }) ?? (servers[takeover.old][place].time >= takeover.begin) {
        let execution = servers[takeover.old][place]
        // A removal has no token: it arrived if the replica tells of one behind the last write that did.
        let arrived = execution.token == nil && removalsBehind.contains(execution.key)
        if !arrived { lostIn[takeover.old][place] = number }
      }
    }
    for (server, executions) in servers.enumerated() {
      for (place, execution) in executions.enumerated() where !execution.isReplicated {
        events[execution.key, default: []].append(
          Event(
            time: execution.time,
            token: execution.token,
            version: execution.version,
            server: server,
            lostIn: lostIn[server][place]
          )
        )
        if lostIn[server][place] != nil { lost += 1 }
      }
    }
    // A primary that was killed may have told its replica and not the monitor.
    let executed = Set(events.values.joined().compactMap(\.token))
    var late: [String: Execution] = [:]
    for execution in servers.joined() {
      guard let token = execution.token, !executed.contains(token), late[token]?.time ?? .max > execution.time else {
        continue
      }
      late[token] = execution
    }
    for execution in late.values {
      events[execution.key, default: []].append(
        Event(
          time: execution.time,
          token: execution.token,
          version: execution.version,
          server: -1,
          lostIn: nil
        )
      )
    }
    for key in Array(events.keys) {
      // A sort that keeps what is equal in its order.
      let sorted = (events[key] ?? []).enumerated().sorted {
        ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
      }
      events[key] = sorted.map(\.element)
      for (place, event) in sorted.enumerated() { if let token = event.element.token { places[token] = place } }
    }
  }
}
