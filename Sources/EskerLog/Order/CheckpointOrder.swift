internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

/// The keys of a keyspace in order, as a checkpoint has them: mapped, and checked page by page as they are used.
///
/// Safety: it owns the mapping, which is private to this process, from `init` to `deinit`; only the tree that is made of the image stores
/// there, and keeps it.
@safe
final class CheckpointOrder: @unchecked Sendable {
  let row: CheckpointMeta.Order
  /// The checkpoint's file.
  let path: String
  private let mapping: any Mapping

  /// - Parameter row: Lies within the file.
  init(_ row: CheckpointMeta.Order, of file: any File, _ path: String) throws(PlatformError) {
    self.row = row
    self.path = path
    mapping = try file.mapPrivate(Int(row.offset)..<Int(row.offset + row.byteCount))
  }

  deinit { mapping.unmap() }

  var image: KeyImage {
    let extent = KeyImage.Extent(byteCount: Int(row.byteCount), root: Int(row.root), keyCount: Int(row.keyCount))
    return unsafe KeyImage(
      UnsafeMutableRawBufferPointer(start: mapping.base, count: extent.byteCount),
      extent,
      owner: self
    )
  }

  /// Says that a page is damaged.
  func event(_ damage: KeyImage.Damage) -> StoreEvent {
    .damaged(
      StoreError.Location(path: path, offset: Int(row.offset) + damage.offset),
      reason: "a page of keys in order is not as it was written; they are gathered from the records"
    )
  }
}
