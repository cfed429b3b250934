import EskerPlatform

/// A run in words: which thread did what, in order.
struct Story {
  private let trace: ScheduleTrace
  private var names: [Int: String] = [0: "main"]

  /// The first and last of what a thread does in a row are told, and whatever it says of itself.
  private static let edge = 4

  /// - Parameter trace: that of the last run.
  init(_ trace: ScheduleTrace) {
    self.trace = trace
    for event in trace.events where event.kind == .begin { names[Int(event.member)] = trace.text(of: event) }
  }

  func name(_ member: Int) -> String { names[member] ?? "thread \(member)" }

  var lines: [String] {
    let events = Array(trace.events)
    guard let first = events.firstIndex(where: { $0.kind == .start }) else { return ["no thread was started"] }
    var lines: [String] = []
    var position = first
    while position < events.count {
      let member = events[position].member
      let end = events[position...].firstIndex { $0.member != member } ?? events.count
      tell(events[position..<end], into: &lines)
      position = end
    }
    return lines
  }

  private func tell(_ events: ArraySlice<ScheduleEvent>, into lines: inout [String]) {
    var skipped = 0
    func label(_ isFirst: Bool) -> String {
      let name = isFirst ? name(Int(events[events.startIndex].member)) : ""
      return name + String(repeating: " ", count: max(1, 16 - name.count))
    }
    var isFirst = true
    func say(_ text: String, _ lines: inout [String]) {
      if skipped > 0 { lines.append(label(isFirst) + "… \(skipped) points") }
      if skipped > 0 { isFirst = false }
      skipped = 0
      lines.append(label(isFirst) + text)
      isFirst = false
    }
    for (offset, event) in events.enumerated() {
      let isEdge = offset < Self.edge || offset >= events.count - Self.edge
      if event.kind == .note || event.deviates || isEdge {
        say(describe(event) + passing(event), &lines)
      } else {
        skipped += 1
      }
    }
  }

  private func passing(_ event: ScheduleEvent) -> String {
    guard event.deviates, event.chosen != event.member else { return "" }
    return "  — but first \(name(Int(event.chosen))):"
  }

  private func describe(_ event: ScheduleEvent) -> String {
    switch event.kind {
    case .note: "» " + trace.text(of: event)
    case .begin: "is there"
    case .start: "starts \(name(Int(event.object)))"
    case .end: "ends"
    case .lock: "takes the lock \(event.name) #\(event.object)"
    case .tryLock: "tries the lock \(event.name) #\(event.object)"
    case .unlock: "has released \(event.name) #\(event.object)"
    case .wait: "waits for \(event.name) #\(event.object)"
    case .signal: "wakes \(event.name) of #\(event.object)"
    case .access: "at \(event.name):\(event.line)"
    case .call: "calls " + trace.text(of: event)
    case .yield: "gives way"
    }
  }
}
