internal import EskerFormat
internal import EskerLog
internal import EskerPlatform

/// The segment files of a damaged store, in which each multiple of eight bytes has an address.
struct SalvageFiles {
  let segments: [SegmentFile]
  private let seed: HashSeed?
  /// Where the addresses of each segment begin, and where those of the last one end.
  private let starts: [UInt64]
  private let path: String

  init(_ source: SalvageSource) {
    segments = source.segments
    seed = source.seed
    path = source.path
    var starts: [UInt64] = [0]
    for segment in segments { starts.append(starts[starts.count - 1] + UInt64(segment.end >> 3) + 1) }
    self.starts = starts
  }

  /// Never 0: a segment begins with its header.
  func address(_ position: Int, _ offset: Int) -> UInt64 { starts[position] + UInt64(offset >> 3) }

  /// The position of the segment of an address, and the offset in it.
  func place(_ address: UInt64) -> (position: Int, offset: Int) {
    var (low, high) = (0, starts.count - 1)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= address { low = middle } else { high = middle }
    }
    return (low, Int(address - starts[low]) << 3)
  }

  /// The header of the record at an address; nil if there is none.
  func header(at address: UInt64) -> RecordHeader? {
    let (position, offset) = place(address)
    return segments[position].header(at: offset, seed)
  }

  func sequence(at address: UInt64) -> UInt64 { header(at: address)?.sequence ?? 0 }

  func record(at address: UInt64) -> FileRecord? {
    let (position, offset) = place(address)
    return segments[position].record(at: offset)
  }

  /// Removes all segments from this process's page table.
  func detachAll() { for segment in segments { segment.detach() } }

  var outOfMemory: StoreError {
    .failed(operation: "allocate memory for the index of", path: path, errno: PlatformError.outOfMemory)
  }
}

/// Goes through the files in the order of their addresses, and detaches each segment behind.
struct SalvageWindow {
  private let files: SalvageFiles
  private var position = 0

  init(_ files: SalvageFiles) {
    self.files = files
  }

  mutating func pass(_ address: UInt64) {
    let (next, _) = files.place(address)
    guard next != position else { return }
    files.segments[position].detach()
    position = next
  }
}
