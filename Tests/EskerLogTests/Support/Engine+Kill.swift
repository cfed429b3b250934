import EskerFormat

@testable import EskerLog

extension Engine {
  /// Publishes a record that says its batch goes on, and nothing after it: what a writer leaves that is killed there.
  func appendUnfinishedBatch(key: [UInt8], value: [UInt8]) {
    writer.withLock { state in
      key.withUnsafeBytes { key in
        value.withUnsafeBytes { value in
          var header = RecordHeader(
            sequence: 0,
            kind: .put,
            keyHash: 1,
            keyLength: key.count,
            valueLength: value.count,
            batchContinues: true
          )
          guard state.tail != nil, (try? prepareWrite(of: header.size, &state)) != nil else { return }
          _ = try? append(&header, key, value, RecordEncoder.bodyChecksum(key: key, value: value), false, &state)
        }
      }
    }
  }

  /// Gives everything up without closing, as a killed process does.
  func letGoAsIfKilled() {
    _ = status.bitwiseOr(Status.closed, ordering: .sequentiallyConsistent)
    committer.stop()
    background.stop()
    keeper.stop()
    release()
  }
}
