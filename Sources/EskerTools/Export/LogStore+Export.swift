public import EskerLog

extension LogStore {
  /// Writes all entries of all keyspaces, in their current state, to a stream of bytes that ``importStream(from:)``
  /// reads.
  ///
  /// Reads and writes continue meanwhile. Large values are passed to `sink` without copying. Thread safety: any thread.
  ///
  /// - Parameter sink: Receives the bytes of the stream, piece by piece and in order.
  /// - Throws: What `sink` throws; `StoreError.damaged(_:reason:)` at a record that cannot be read, so that a stream with
  ///   an end is complete. ``salvage(from:to:options:progress:)`` skips damage.
  /// - Complexity: O(bytes).
  @discardableResult
  public func exportStream(to sink: (RawSpan) throws -> Void) throws -> ExportReport {
    let snapshot = try snapshot()
    var writer = ExportWriter(snapshot, storeID: storeID)
    return try writer.write(snapshot.keyspaceRows, to: sink)
  }

  /// Stores every entry of a stream that ``exportStream(to:)`` wrote, with its keyspace and its expiry, and the forms of keys
  /// and values where the store has none.
  ///
  /// Existing keys get the values of the stream; other keys are left alone. Expired entries are skipped. Everything is
  /// durable when the call returns: one sync covers it, whatever the store's durability. If it throws, what came before the
  /// error stays stored, though it may not be durable yet: import into a new store to be able to start over. A store with a
  /// capacity may evict, of the stream too, to make room. Thread safety: any thread.
  ///
  /// - Parameter source: Returns the next bytes of the stream, at most as many as requested; none at the end.
  /// - Throws: What `source` throws; `StoreError.damaged(_:reason:)` with the offset in the stream from which on nothing
  ///   was stored; `StoreError.unknownFormat(path:version:)`; `StoreError.failed(operation:path:errno:)` if keys or values of
  ///   a keyspace have another form in the store; what writing throws.
  /// - Complexity: O(bytes). Memory for one value.
  @discardableResult
  public func importStream(from source: (Int) throws -> [UInt8]) throws -> ImportReport {
    var reader = ImportReader(into: self)
    let report = try reader.read(source)
    try sync()
    return report
  }
}
