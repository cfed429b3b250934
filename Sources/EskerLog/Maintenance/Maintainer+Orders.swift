internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

/// The keys of a keyspace that a checkpoint is to have in order.
struct CutOrder {
  let tag: KeyspaceTag
  let keys: KeyOrder
  private let sweptCount: Int

  /// Nil if there are none, or some may be missing. Called under the writer's lock.
  init?(_ core: KeyspaceCore) {
    guard let order = core.keptOrder, order.canBeSaved else { return nil }
    (tag, keys, sweptCount) = (core.tag, order, order.sweptCount)
  }

  /// Whether it still has all keys to which the index led at the cut, but for those of which the log says that they were removed. One that
  /// has expired and was swept is in the index of the checkpoint, and with a new value it would be in no range.
  var isWhole: Bool {
    guard keys.canBeSaved else { return false }
    return keys.sweptCount == sweptCount
  }
}

// Safety: keys and pages are lent by arrays that do not change meanwhile, and nobody keeps them.
extension Maintainer {
  /// The fewest keys of a keyspace whose order a close writes a checkpoint for: to gather them takes as long as to write one.
  private static let leastSaved = 10_000

  /// Whether keys are in order that the checkpoint does not have, and that take time to gather.
  var lacksOrders: Bool {
    if env.isFollowing { return false }
    return keydir.keyspaces.all.contains { core in
      guard let order = core.order, order.canBeSaved, order.count >= Self.leastSaved else { return false }
      return order.checkpoint == 0 || order.checkpoint != catalog.manifest.checkpointID
    }
  }

  /// What the keys that a checkpoint would have in order take at most, in bytes.
  var orderBytes: Int {
    keydir.keyspaces.all.reduce(0) { $0 + ($1.order?.byteCount ?? 0) }
  }

  /// The number of keys that are read under one hold of an order's lock.
  private static let keysAtOnce = 512

  /// Writes keys in order behind each other, and notes in a meta section where they are. They may have more keys than there were at the
  /// cut, and lack some that have been removed since.
  ///
  /// - Returns: Where they end.
  func write(
    _ orders: [CutOrder],
    to file: any File,
    at start: Int,
    of id: UInt64,
    in meta: inout CheckpointMeta
  ) throws(PlatformError) -> Int {
    var end = start
    for order in orders {
      guard let extent = try write(order, to: file, at: end) else { continue }
      order.keys.checkpoint = id
      meta.orders.append(
        CheckpointMeta.Order(
          tag: order.tag,
          offset: UInt64(end),
          byteCount: UInt64(extent.byteCount),
          root: UInt64(extent.root),
          keyCount: UInt64(extent.keyCount)
        )
      )
      end += extent.byteCount
    }
    keydir.savedOrderBytes = end - start
    return end
  }

  /// Writes the keys of one order; nil if they cannot be had, none is left, or one is missing.
  private func write(_ order: CutOrder, to file: any File, at start: Int) throws(PlatformError) -> KeyImage.Extent? {
    var builder = KeyImageBuilder()
    var keys = KeyBatch()
    var rest = KeyRange.all
    var offset = start
    repeat {
      guard order.keys.read(rest, .ascending, limit: Self.keysAtOnce, into: &keys) else { return nil }
      unsafe keys.forEach { unsafe builder.append($0) }
      if builder.pendingByteCount >= 1 << 16 { try write(&builder, to: file, at: &offset) }
      if let last = keys.last { rest = rest.after(last) }
    } while keys.count == Self.keysAtOnce
    guard let extent = builder.finish(), extent.keyCount > 0, order.isWhole else { return nil }
    try write(&builder, to: file, at: &offset)
    return extent
  }

  private func write(_ builder: inout KeyImageBuilder, to file: any File, at offset: inout Int) throws(PlatformError) {
    let start = offset
    offset += builder.pendingByteCount
    try unsafe builder.drain { (bytes) throws(PlatformError) in try unsafe file.write(bytes, at: start) }
  }
}
