#if Metrics
  public import CoreMetrics
  public import Esker

  extension StorageProtocol {
    /// The same storage with its calls timed: the timer `label` has the dimensions `storage` and `call` (`read`,
    /// `missed_memory`, `set`, `touch`, `remove`; an update is a read and a set), and the counter `label` with the suffix
    /// `_failures` counts failed calls with the same dimensions.
    public func metered(
      label: String = "esker_storage_call",
      to factory: any MetricsFactory = MetricsSystem.factory
    ) -> Composed<Self, StorageStep.Tap<Key, Value>> {
      let instruments = CallInstruments(label, name, factory)
      return tap { instruments.record($0) }
    }
  }

  /// A timer and a counter for each kind of call, created once.
  private struct CallInstruments: Sendable {
    private struct Pair {
      let durations: Timer
      let failures: Counter
    }

    private let pairs: [String: Pair]

    init(_ label: String, _ storage: String, _ factory: any MetricsFactory) {
      var pairs: [String: Pair] = [:]
      for call in ["read", "missed_memory", "set", "touch", "remove"] {
        let dimensions = [("storage", storage), ("call", call)]
        pairs[call] = Pair(
          durations: Timer(label: label, dimensions: dimensions, factory: factory),
          failures: Counter(label: "\(label)_failures", dimensions: dimensions, factory: factory)
        )
      }
      self.pairs = pairs
    }

    func record(_ call: StorageRequest.Record) {
      let name =
        switch call.kind {
        case .read: "read"
        case .missedMemory: "missed_memory"
        case .set: "set"
        case .touch: "touch"
        case .remove: "remove"
        }
      pairs[name]?.durations.recordNanoseconds(call.duration.wholeNanoseconds)
      if call.error != nil { pairs[name]?.failures.increment() }
    }
  }
#endif
