import CLimits

/// Throughput and latencies from one pass over a loop.
///
/// The turns are dealt out in short runs. Of every four, three are measured as a whole and make the throughput; in the fourth
/// each turn is timed alone. So both see all of the store's history, and no clock is in the throughput.
struct Pace {
  /// Those behind the throughput.
  private(set) var operations = 0
  var seconds = 0.0
  var tally = Tally()
  var figures: [String: Double] = [:]
  private var recorder = LatencyRecorder()

  var latency: Latency { recorder.latency }

  init() {}

  /// As for a loop that was measured otherwise.
  init(operations: Int, seconds: Double, tally: Tally, recorder: LatencyRecorder) {
    self.operations = operations
    self.seconds = seconds
    self.tally = tally
    self.recorder = recorder
  }

  mutating func run(_ loop: some Loop, _ turns: Range<Int>) throws {
    let length = max(1, min(1_024, turns.count / 64))
    for (number, start) in stride(from: turns.lowerBound, to: turns.upperBound, by: length).enumerated() {
      let part = start..<min(start + length, turns.upperBound)
      if number % 4 == 3 {
        tally += try loop.run(part, &recorder)
      } else {
        let begin = bench_nanoseconds()
        tally += try loop.run(part)
        seconds += Double(bench_nanoseconds() - begin) * 1e-9
        operations += part.count * loop.width
      }
    }
  }
}
