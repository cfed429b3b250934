internal import EskerPlatform
internal import Synchronization

/// Tells the writer of a store, in whatever process, that this one reads its files: from then on no record is replaced.
///
/// A reader holds a shared lock on the copies of the manifest as long as it is there, and sets a word in `LOCK`, at which the writer
/// looks before it replaces a record. Now and then the writer clears the word, and tries the locks to see whether it should; and it
/// replaces none for long without such a look, for readers that must not write to `LOCK`.
final class ReaderPresence: Sendable {
  private let files: Guarded<[any File]>
  private let lock: LockFile?
  private let fileSystem: any FileSystem
  /// Whether the writer was replacing a record and did not come to the end of that.
  let gaveUpWaiting: Bool

  /// - Throws: if the store has a writer that cannot be notified.
  init(in directory: String, _ platform: Platform) throws(StoreError) {
    var files: [any File] = []
    var lock: LockFile?
    var gaveUpWaiting = false
    do throws(StoreError) {
      for path in Self.paths(in: directory) {
        guard let file = try? platform.fileSystem.open(path, .read) else { continue }
        files.append(file)
      }
      try translating { () throws(PlatformError) in
        try Self.lock(files, platform)
        do throws(PlatformError) {
          lock = try LockFile(in: directory, platform.fileSystem)
          gaveUpWaiting = try lock?.announceReader(platform) ?? false
        } catch {
          // There never was a writer.
          if error.code != PlatformError.notFound { throw error }
        }
      }
    } catch {
      for file in files { file.close() }
      lock?.close()
      throw error
    }
    self.files = Guarded(files, .leaf)
    self.lock = lock
    fileSystem = platform.fileSystem
    self.gaveUpWaiting = gaveUpWaiting
  }

  /// Locks the copies, or the one that can be had: a writer that looks has the other locked for a moment, or was stopped then. It tries
  /// one after the other, so it meets the lock on the second, or comes to the reader's word in `LOCK` after its own.
  private static func lock(_ files: [any File], _ platform: Platform) throws(PlatformError) {
    for _ in 0..<50 {
      var isLocked = true
      for file in files where try !file.tryLock(exclusive: false) { isLocked = false }
      if isLocked { return }
      platform.pause()
    }
    for file in files where try file.tryLock(exclusive: false) { return }
    throw PlatformError("lock", path: files.first?.path ?? "", code: PlatformError.tryAgain)
  }

  deinit { end() }

  /// From now on, this process does not read. Idempotent.
  func end() {
    let files = files.withLock { files in
      defer { files = [] }
      return files
    }
    for file in files { file.close() }
    lock?.close()
  }

  /// The last write that every process could see; nil if that is not known, and after ``end()``.
  var published: UInt64? {
    guard let lock, let words = try? lock.words(), words.areReaders, words.published != 0 else { return nil }
    return words.published
  }

  /// The number that each edit of the manifest changes; nil if there never was a writer, and after ``end()``.
  var edits: UInt64? { ((try? lock?.words()) ?? nil)?.edits }

  /// The same while a writer is there; nil if there is none. After a power failure, `LOCK` may be older than the log: whoever begins to read
  /// then reads all that the next writer would keep.
  var publishedByWriter: UInt64? { lock?.isHeld(fileSystem) == false ? nil : published }

  /// Whether any reader is there. Also true if that is not known.
  static func isAny(in directory: String, _ fileSystem: any FileSystem) -> Bool {
    paths(in: directory).contains { path in
      do throws(PlatformError) {
        let file = try fileSystem.open(path, .read)
        defer { file.close() }
        return try !file.tryLock(exclusive: true)
      } catch {
        return error.code != PlatformError.notFound
      }
    }
  }

  private static func paths(in directory: String) -> [String] { FileName.manifests.map { "\(directory)/\($0)" } }
}
