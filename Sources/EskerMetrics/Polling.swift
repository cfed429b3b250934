#if Metrics
  internal import Dispatch
  internal import Esker

  /// Calls `sample` at once and then every `interval`, on its own queue, until it returns false or the observation ends.
  func polling(every interval: Duration, _ sample: @escaping @Sendable () -> Bool) -> ObservationToken {
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "esker-metrics", qos: .utility))
    let nanoseconds = Int(clamping: max(interval, .milliseconds(1)).wholeNanoseconds)
    timer.schedule(deadline: .now(), repeating: .nanoseconds(nanoseconds), leeway: .nanoseconds(nanoseconds / 20))
    let running = Running(timer)
    timer.setEventHandler { if !sample() { running.cancel() } }
    timer.activate()
    return ObservationToken { running.cancel() }
  }

  /// A timer that any thread may stop.
  ///
  /// Safety: threads may share it: Dispatch allows that for its timers, though their types do not say so.
  private final class Running: @unchecked Sendable {
    private let timer: any DispatchSourceTimer

    init(_ timer: any DispatchSourceTimer) {
      self.timer = timer
    }

    func cancel() { timer.cancel() }
  }
#endif
