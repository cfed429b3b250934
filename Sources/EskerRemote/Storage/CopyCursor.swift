internal import Esker
internal import EskerLog
internal import EskerPlatform

/// The copies in a log, batch after batch, as they were when it was made.
///
/// Safety: whoever has it asks for one batch at a time.
final class CopyCursor: @unchecked Sendable {
  struct Copy: Sendable {
    let key: [UInt8]
    let version: RemoteVersion
  }

  private var entries: any IteratorProtocol<Snapshot.Entry>

  init(_ keyspace: Keyspace) throws(StoreError) {
    entries = try keyspace.store.snapshot().entries(in: keyspace).makeIterator()
  }

  /// The next copies, at most `count`; empty at the end. What cannot be read is left out. No thread of the caller's executor waits for
  /// a device.
  func next(_ count: Int) async throws(StorageError) -> [Copy] {
    try await IOThreads.shared.run(orThrow: .cancelled) { [self] () throws(StorageError) in
      var copies: [Copy] = []
      while copies.count < count, let entry = entries.next() {
        let envelope = try? entry.value().withBytes { RemoteEnvelope($0) }
        guard let version = envelope?.version, let key = try? entry.key() else { continue }
        copies.append(Copy(key: key, version: version))
      }
      return copies
    }
  }
}
