public import EskerLog

extension LogStore {
  /// Writes all entries of all keyspaces, as they are now, to a stream of bytes that ``importStream(from:)`` reads.
  ///
  /// Reads and writes go on meanwhile. Large values are handed to `sink` where they lie.
  ///
  /// - Parameter sink: takes the bytes of the stream, some at a time and in order.
  /// - Throws: what `sink` throws; `StoreError.damaged(_:reason:)` at a record that cannot be read, so that a stream with an
  ///   end is whole. ``salvage(from:to:options:progress:)`` passes over damage.
  /// - Complexity: O(bytes).
  @discardableResult
  public func exportStream(to sink: (RawSpan) throws -> Void) throws -> ExportReport {
    let snapshot = try snapshot()
    var writer = ExportWriter(snapshot, storeID: storeID)
    return try writer.write(snapshot.keyspaceRows, to: sink)
  }

  /// Stores every entry of a stream that ``exportStream(to:)`` wrote, with its keyspace and its instant of expiry.
  ///
  /// Keys that are there already get the stream's values; others stay. Entries that have expired are passed over. All is
  /// durable when the call returns. If it throws, what came before the error stays stored: import into a new store to be able
  /// to start again.
  ///
  /// - Parameter source: gives the next bytes of the stream, at most as many as it is asked for; none at the end.
  /// - Throws: what `source` throws; `StoreError.damaged(_:reason:)` with the offset in the stream, of which nothing was
  ///   stored from there on; `StoreError.unknownFormat(path:version:)`; what writing throws.
  /// - Complexity: O(bytes). Memory for one value.
  @discardableResult
  public func importStream(from source: (Int) throws -> [UInt8]) throws -> ImportReport {
    var reader = ImportReader(into: self)
    let report = try reader.read(source)
    try sync()
    return report
  }
}
