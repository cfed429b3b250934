internal import EskerPlatform

/// Space on the volume that is set aside for what frees space: removals and merges.
///
/// A file of which nothing but its size matters. When the volume is full it is removed, and set aside anew when there is
/// room again.
final class SpaceReserve: Sendable {
  private let path: String
  private let fileSystem: any FileSystem
  /// Whether the store is closed: the file may be another process's from then on.
  private let isEnded = Guarded(false, .reserve)

  init(directory: String, fileSystem: any FileSystem) {
    path = "\(directory)/\(FileName.reserve)"
    self.fileSystem = fileSystem
  }

  /// Sets aside `length` bytes, if there is room for them and they are not set aside already, and gives back what is more than
  /// twice as much. Best effort.
  func fill(to length: Int) {
    isEnded.withLock { isEnded in
      if isEnded { return }
      do throws(PlatformError) {
        let status = try fileSystem.status(path)
        if let status, length...2 * length ~= status.size { return }
        let file = try fileSystem.open(path, status == nil ? .create : .readWrite)
        defer { file.close() }
        if let status, status.size > length { try file.truncate(length) } else { try file.reserve(length) }
      } catch {
        // Less than was asked for is better than nothing, and no room now may be room later.
      }
    }
  }

  /// Nothing is set aside or given back any more.
  func end() {
    isEnded.withLock { $0 = true }
  }

  /// Gives the space to whoever needs it now; false when there was none.
  func release() -> Bool {
    isEnded.withLock { isEnded in
      do throws(PlatformError) {
        guard !isEnded, let status = try fileSystem.status(path), status.size > 0 else { return false }
        try fileSystem.remove(path)
        return true
      } catch {
        return false
      }
    }
  }
}
