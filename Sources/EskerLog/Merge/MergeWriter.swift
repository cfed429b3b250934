internal import EskerFormat
internal import EskerPlatform

/// Writes what a merge keeps to separate segments, apart from new writes.
///
/// With compression, these are packed. Records that expire at about the same time go to the same segment, so that whole
/// segments can be removed at once.
struct MergeWriter: ~Copyable {
  private let keydir: Keydir
  private let inputs: [Segment]
  private let now: Int64
  /// The dictionary for packing, once needed.
  private var dictionary: [UInt8]?
  private var outputs: [any MergeOutput] = []
  /// The current output of each group.
  private var open: [Int: Int] = [:]
  /// Bytes of records written, before packing.
  private(set) var bytes = 0

  /// - Parameter usesDictionary: Whether to pack with a dictionary.
  init(_ keydir: Keydir, merging inputs: [Segment], now: Int64, usesDictionary: Bool) {
    dictionary = usesDictionary ? nil : []
    self.keydir = keydir
    self.inputs = inputs
    self.now = now
  }

  /// The group of a record. Groups contain records with the same time left up to a factor of four; records that never
  /// expire and tombstones form a group too.
  static func group(expiry: Int64, now: Int64) -> Int {
    guard expiry != .max else { return 0 }
    let left = UInt64(max(1, expiry.subtractingClamped(now)))
    return 1 + (63 - left.leadingZeroBitCount) / 2
  }

  /// Writes a record; returns its output, and its ticket there for ``settle(_:)``.
  ///
  /// Safety: the caller keeps both buffers during the call, and an output keeps no pointer.
  @discardableResult
  mutating func append(
    _ header: RecordHeader,
    key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer,
    bodyChecksum: UInt32?,
    isWarm: Bool
  ) throws(StoreError) -> (output: Int, ticket: UInt64) {
    let group = Self.group(expiry: header.expiry, now: now)
    let number: Int
    if let known = open[group], outputs[known].hasRoom(for: header.size) {
      number = known
    } else {
      number = outputs.count
      outputs.append(try makeOutput(for: header.size))
      keydir.catalog.note(unlistedFiles: [outputs[number].path])
      open[group] = number
    }
    bytes += header.size
    let output = outputs[number]
    let ticket = try unsafe output.append(header, key: key, value: value, bodyChecksum: bodyChecksum, isWarm: isWarm)
    return (number, ticket)
  }

  private mutating func makeOutput(for size: Int) throws(StoreError) -> any MergeOutput {
    guard let level = keydir.env.settings.compression.codecLevel else {
      return try RawOutput(keydir.catalog, for: size)
    }
    let dictionary = self.dictionary ?? keydir.dictionary(for: inputs)
    self.dictionary = dictionary
    return try PackedOutput(keydir.catalog, dictionary: dictionary, level: level)
  }

  /// Makes all outputs durable, including their names.
  mutating func finish() throws(StoreError) -> [Segment] {
    var segments: [Segment] = []
    for output in outputs {
      do throws(StoreError) { segments.append(try output.finish()) } catch {
        for segment in segments { keydir.catalog.uninstall(segment) }
        throw error
      }
    }
    guard !segments.isEmpty else { return [] }
    do throws(PlatformError) { try keydir.env.platform.fileSystem.syncDirectory(keydir.env.path) } catch {
      keydir.catalog.commits.noteFailure(error)
      for segment in segments { keydir.catalog.uninstall(segment) }
      throw StoreError(error)
    }
    return segments
  }

  /// Replaces the tickets of moves by addresses. All outputs must be finished.
  func settle(_ moves: inout [MergeMove]) {
    for position in moves.indices { outputs[Int(moves[position].output)].settle(&moves[position]) }
  }

  /// The files are listed by now, or gone.
  func forgetFiles() { keydir.catalog.forget(unlistedFiles: outputs.map(\.path)) }

  /// Removes everything written. The index must not point to it.
  func discard() {
    for output in outputs { output.discard() }
    forgetFiles()
  }
}
