internal import EskerPlatform

/// Space on the volume reserved for what frees space: removals and merges.
///
/// A file of which only the size matters. It is removed when the volume is full, and created again when there is room.
/// Thread safety: any thread.
final class SpaceReserve: Sendable {
  private let path: String
  private let fileSystem: any FileSystem
  /// Whether the store is closed, or suspended: the file may then belong to another process.
  private let isLeftAlone = Guarded((isEnded: false, isPaused: false), .reserve)

  init(directory: String, fileSystem: any FileSystem) {
    path = "\(directory)/\(FileName.reserve)"
    self.fileSystem = fileSystem
  }

  /// Reserves `length` bytes, if there is room and less is reserved, and shrinks a reserve of more than twice as much.
  /// Best effort.
  func fill(to length: Int) {
    isLeftAlone.withLock { isLeftAlone in
      if isLeftAlone != (false, false) { return }
      do throws(PlatformError) {
        let status = try fileSystem.status(path)
        if let status, length...2 * length ~= status.size { return }
        let file = try fileSystem.open(path, status == nil ? .create : .readWrite)
        defer { file.close() }
        if let status, status.size > length { try file.truncate(length) } else { try file.reserve(length) }
      } catch {
        // Less than requested is better than nothing, and there may be room later.
      }
    }
  }

  /// Sets whether the file is left alone, as it is while the store is suspended.
  func pause(_ isPaused: Bool) {
    isLeftAlone.withLock { $0.isPaused = isPaused }
  }

  /// Leaves the file alone from now on.
  func end() {
    isLeftAlone.withLock { $0.isEnded = true }
  }

  /// Frees the reserved space; false if there was none.
  func release() -> Bool {
    isLeftAlone.withLock { isLeftAlone in
      do throws(PlatformError) {
        guard isLeftAlone == (false, false), let status = try fileSystem.status(path), status.size > 0 else {
          return false
        }
        try fileSystem.remove(path)
        return true
      } catch {
        return false
      }
    }
  }
}
