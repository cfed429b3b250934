internal import EskerFormat
internal import EskerIndex

/// The state that a checkpoint captures, recorded at one instant under the writer's lock.
///
/// Buckets are copied a few at a time while writes continue. A write that is about to change a bucket not copied yet saves it
/// first, so the copy shows one instant: counts are exact, and replaying the later records yields the current state.
final class CheckpointCut {
  let sequence: UInt64
  let replaySegmentID: UInt64
  let replayOffset: Int
  let bucketCount: Int
  let entryCount: Int
  let level: Int
  let splitPointer: Int
  let meta: CheckpointMeta

  /// Buckets below this one are copied. Guarded by the writer's lock, like `saved`.
  var copied = 0
  var saved: [Int: SavedBucket] = [:]

  init(
    sequence: UInt64,
    replaying place: (segment: UInt64, offset: Int),
    index: HashIndex,
    meta: CheckpointMeta
  ) {
    self.sequence = sequence
    replaySegmentID = place.segment
    replayOffset = place.offset
    bucketCount = index.bucketCount
    entryCount = index.count
    level = index.level
    splitPointer = index.splitPointer
    self.meta = meta
  }

  /// Saves a bucket before it changes, if it has not been copied or saved yet.
  func willChange(_ bucket: Int, of index: HashIndex) {
    guard bucket >= copied, bucket < bucketCount, saved[bucket] == nil else { return }
    saved[bucket] = index.saveBucket(bucket)
  }
}
