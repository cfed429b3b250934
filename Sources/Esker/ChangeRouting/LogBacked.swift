/// A view of a log, also behind an erased storage or operators that keep keys.
protocol LogBacked {
  /// nil if there is no log behind after all.
  var logView: LogBacking? { get }
}

/// What a front must know of the log behind it.
struct LogBacking {
  let broadcaster: ChangeBroadcaster
  let formOfKeys: String
}
