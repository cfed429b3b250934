import CLimits

/// Throughput and latencies from one pass over a loop.
///
/// The turns are divided into short runs. Of every four runs, three are timed as a whole and determine the throughput; in
/// the fourth each turn is timed individually. So both cover the store's whole history, and the throughput includes no clock
/// calls.
struct Pace {
  /// The number of operations behind the throughput.
  private(set) var operations = 0
  var seconds = 0.0
  var tally = Tally()
  var figures: [String: Double] = [:]
  private var recorder = LatencyRecorder()

  /// Nil if no turn was timed individually, as of very few.
  var latency: Latency? { recorder.isEmpty ? nil : recorder.latency }

  init() {}

  /// The result of a loop that was measured in another way.
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
