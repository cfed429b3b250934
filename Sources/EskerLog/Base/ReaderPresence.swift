internal import EskerPlatform
internal import Synchronization

/// Tells the writer of a store, in whatever process, that this one reads its files: from then on no record is replaced.
///
/// A reader holds a shared lock on the copies of the manifest as long as it is there, and sets a word in `LOCK`, at which the writer
/// looks before it replaces a record. Now and then the writer clears the word, and tries the locks to see whether it should.
final class ReaderPresence: Sendable {
  private let files: Guarded<[any File]>

  /// - Throws: if the store has a writer that cannot be told.
  init(in directory: String, _ platform: Platform) throws(StoreError) {
    var files: [any File] = []
    do throws(StoreError) {
      for path in Self.paths(in: directory) {
        guard let file = try? platform.fileSystem.open(path, .read) else { continue }
        files.append(file)
        // The writer may be trying it.
        while try translating({ () throws(PlatformError) in try !file.tryLock(exclusive: false) }) { platform.pause() }
      }
      try Self.announce(in: directory, platform)
    } catch {
      for file in files { file.close() }
      throw error
    }
    self.files = Guarded(files, .leaf)
  }

  deinit { end() }

  /// From now on, this process does not read. Idempotent.
  func end() {
    let files = files.withLock { files in
      defer { files = [] }
      return files
    }
    for file in files { file.close() }
  }

  /// Whether any reader is there. Also true if that cannot be told.
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

  private static func announce(in directory: String, _ platform: Platform) throws(StoreError) {
    do throws(PlatformError) {
      try Session.announceReader(at: "\(directory)/\(Session.fileName)", platform)
    } catch {
      // There never was a writer.
      if error.code != PlatformError.notFound { throw StoreError(error) }
    }
  }
}
