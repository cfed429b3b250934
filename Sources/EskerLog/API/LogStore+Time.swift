extension LogStore {
  /// The store time, which decides expiry: wall-clock time that never goes back.
  package var time: WallTime { WallTime(millisecondsSince1970: engine.env.time.now) }
}
