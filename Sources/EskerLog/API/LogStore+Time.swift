extension LogStore {
  /// The store's time, which expiry follows: the wall clock's, but never going back.
  package var time: WallTime { WallTime(millisecondsSince1970: engine.env.time.now) }
}
