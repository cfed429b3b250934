import CEskerShims

/// The system's cache of file pages, as far as a process can see and steer it.
///
/// Safe to call from any thread.
///
/// Safety: none of these functions reads or changes memory, or keeps an address; the kernel answers for any address.
public enum PageCache {
  /// Whether all pages of a range are in memory, so that reading them waits for no device. What is there may be gone a moment
  /// later.
  ///
  /// - Complexity: a system call for each 64 pages.
  public static func holds(_ address: UnsafeRawPointer, byteCount: Int) -> Bool {
    unsafe esker_is_resident(address, max(1, byteCount))
  }

  /// Begins to read the pages of a mapped range that are not in memory, and those alone. Does not wait for them. A hint.
  public static func fetch(_ address: UnsafeRawPointer, byteCount: Int) {
    LockRank.expectIOAllowed()
    unsafe esker_fetch(address, max(1, byteCount))
  }
}
