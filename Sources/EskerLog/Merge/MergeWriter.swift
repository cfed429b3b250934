internal import EskerFormat
internal import EskerPlatform

/// Writes what a merge keeps to segments of their own, apart from fresh writes.
///
/// What expires at about the same time goes to the same segment, so that whole segments can be given up together.
struct MergeWriter: ~Copyable {
  private let engine: Engine
  private let now: Int64
  /// The output that each group is being written to.
  private var open: [Int: MergeOutput] = [:]
  private var full: [MergeOutput] = []
  /// Bytes of records written.
  private(set) var bytes = 0

  init(_ engine: Engine, now: Int64) {
    self.engine = engine
    self.now = now
  }

  /// Which records stay together: those whose time left is the same up to a factor of four. Those that never expire are
  /// a group too, and tombstones are with them.
  static func group(expiry: Int64, now: Int64) -> Int {
    guard expiry != .max else { return 0 }
    let left = UInt64(max(1, expiry.subtractingClamped(now)))
    return 1 + (63 - left.leadingZeroBitCount) / 2
  }

  /// Writes a record and returns its address.
  mutating func append(
    _ header: RecordHeader,
    key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer,
    bodyChecksum: UInt32
  ) throws(StoreError) -> UInt64 {
    let group = Self.group(expiry: header.expiry, now: now)
    let output: MergeOutput
    if let known = open[group], known.hasRoom(for: header.size) {
      output = known
    } else {
      if let known = open[group] { full.append(known) }
      open[group] = nil
      output = try MergeOutput(engine, for: header.size)
      open[group] = output
    }
    bytes += header.size
    return unsafe try output.append(header, key: key, value: value, bodyChecksum: bodyChecksum)
  }

  /// Makes all of it durable, names included.
  mutating func finish() throws(StoreError) -> [Segment] {
    var segments: [Segment] = []
    for output in full + open.keys.sorted().compactMap({ open[$0] }) {
      do throws(StoreError) { segments.append(try output.finish()) } catch {
        for segment in segments { engine.uninstall(segment) }
        throw error
      }
    }
    guard !segments.isEmpty else { return [] }
    do throws(PlatformError) { try engine.platform.fileSystem.syncDirectory(engine.path) } catch {
      engine.commits.noteFailure(error)
      for segment in segments { engine.uninstall(segment) }
      throw StoreError(error)
    }
    return segments
  }

  /// Gives up all that was written. Nobody has been led to it.
  func discard() {
    for output in full { output.discard() }
    for output in open.values { output.discard() }
  }
}
