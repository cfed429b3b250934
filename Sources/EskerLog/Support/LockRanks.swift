internal import EskerPlatform

// The engine's locks, in the order in which they are taken. Architecture.md says what each is held for.
extension LockRank {
  static let closing = LockRank(9, "closing", allowsIO: true)
  static let turning = LockRank(10, "turning", allowsIO: true)
  static let following = LockRank(11, "following", allowsIO: true)
  /// Held while the keys of a keyspace are gathered for the first time.
  static let ordering = LockRank(12, "ordering", allowsIO: true)
  static let merging = LockRank(13, "merging", allowsIO: true)
  static let images = LockRank(14, "images", allowsIO: true)
  static let sealing = LockRank(15, "sealing", allowsIO: true)
  static let feeds = LockRank(18, "feeds", allowsIO: true)
  static let feed = LockRank(19, "feed", allowsIO: true)
  static let rolling = LockRank(22, "rolling", allowsIO: true)
  static let reserve = LockRank(23, "reserve", allowsIO: true)
  static let manifests = LockRank(24, "manifests", allowsIO: true)
  static let growth = LockRank(25, "growth", allowsIO: true)
  // No disk access happens under these, except for a record that is written by a system call.
  static let writer = LockRank(26, "writer")
  static let keyspaces = LockRank(28, "keyspaces")
  static let segments = LockRank(29, "segments")
  static let notes = LockRank(32, "notes")
  static let waiting = LockRank(33, "waiting")
  static let committer = LockRank(34, "committer")
  static let commits = LockRank(35, "commits")
  static let session = LockRank(36, "session")
  static let worker = LockRank(37, "worker")
  /// Held while objects that other modules keep with the store are created.
  static let kept = LockRank(40, "kept")
}
