extension LockRank {
  /// A lock under which no other lock is taken.
  public static let leaf = LockRank(63, "leaf")

  static let ioThreads = LockRank(56, "threads for calls that wait")
  static let mapping = LockRank(57, "mapping", allowsIO: true)
  static let fileLength = LockRank(58, "length of a file", allowsIO: true)
  static let fileMappings = LockRank(59, "mappings of a file", allowsIO: true)
  static let descriptor = LockRank(60, "descriptor", allowsIO: true)
  static let thread = LockRank(61, "thread")
  static let epochs = LockRank(62, "epochs")
}
