/// Batches that are kept between calls, for interfaces in which no closure can fill them.
extension LogStore {
  /// An empty batch. It may be made, and must be used, as `write` says of its own.
  package func makeBatch() -> WriteBatch { WriteBatch(defaultKeyspace: core) }

  /// Writes a batch, which keeps what is in it.
  ///
  /// - Throws: what `write` throws.
  package func commit(_ batch: borrowing WriteBatch, durability: Durability?) throws(StoreError) {
    try engine.commit(batch, durability: durability)
  }
}
