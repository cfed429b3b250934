import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A file of a simulated disk: what programs see, and what the device would still have after losing power.
///
/// What programs see is a real nameless file, so that reads, writes and stores through mappings access the same bytes. It
/// exists only while needed: a file that has not been opened since the last crash consists only of its durable image.
/// Guarded by the disk's lock.
final class SimulatedInode {
  /// What survives a power failure.
  private(set) var durable: PageImage
  private(set) var length: Int
  private var backing: ScratchFile?

  /// Pages that a failed sync marked as written, with their contents at that time.
  ///
  /// The simulated kernel writes such a page again only after a call has written to it, or its contents have changed again.
  private var wronglyClean: [Int: [UInt8]] = [:]

  /// The number of names the file has.
  var links = 0
  var openFiles = 0

  var sharedLocks: Set<ObjectIdentifier> = []
  var exclusiveLock: ObjectIdentifier?

  init(durable: PageImage = PageImage()) {
    self.durable = durable
    length = durable.length
  }

  /// The bytes that programs see, created on demand.
  func contents() throws(PlatformError) -> any File {
    if let backing { return backing.file }
    let scratch = try ScratchFile()
    try scratch.file.truncate(durable.length)
    for (index, page) in durable.pages {
      let start = index * PageImage.pageSize
      try Self.write(page.prefix(durable.length - start), to: scratch.file, at: start)
    }
    backing = scratch
    return scratch.file
  }

  func setLength(_ newLength: Int) throws(PlatformError) {
    try contents().truncate(newLength)
    length = newLength
  }

  /// Records a write: it may have grown the file, and its pages are dirty even if their contents are unchanged.
  func wrote(_ range: Range<Int>) {
    length = max(length, range.upperBound)
    guard !wronglyClean.isEmpty, !range.isEmpty else { return }
    for page in range.lowerBound / PageImage.pageSize...(range.upperBound - 1) / PageImage.pageSize {
      wronglyClean[page] = nil
    }
  }

  // MARK: What a sync would write

  /// The pages that differ from what the kernel believes the device holds, with their current contents.
  func dirtyPages() throws(PlatformError) -> [Int: [UInt8]] {
    guard backing != nil else { return [:] }
    var dirty: [Int: [UInt8]] = [:]
    var unseen = Set(durable.pages.keys).union(wronglyClean.keys)
    try forEachPage { index, page in
      unseen.remove(index)
      let isClean = (wronglyClean[index] ?? durable[index]).withUnsafeBytes { expected in
        expected.baseAddress.map { memcmp($0, page, expected.count) == 0 } ?? false
      }
      if !isClean { dirty[index] = Array(UnsafeRawBufferPointer(start: page, count: PageImage.pageSize)) }
    }
    // Pages that may have become all zero.
    for index in unseen where index * PageImage.pageSize < length {
      if (wronglyClean[index] ?? durable[index]) != PageImage.zeros { dirty[index] = PageImage.zeros }
    }
    return dirty
  }

  /// Makes everything written so far, and the length, durable.
  func sync() throws(PlatformError) {
    for (index, page) in try dirtyPages() {
      durable[index] = page
      wronglyClean[index] = nil
    }
    durable.setLength(length)
    wronglyClean = wronglyClean.filter { $0.key * PageImage.pageSize < length }
  }

  /// Behaves like a kernel after a failed write-back: the pages stay as they are in memory and count as written.
  func forgetDirtyPages() throws(PlatformError) {
    wronglyClean.merge(try dirtyPages()) { _, new in new }
  }

  /// Frees the memory if programs and the device agree and the file is not open.
  func releaseIfIdle() {
    guard openFiles == 0, wronglyClean.isEmpty, length == durable.length else { return }
    if let dirty = try? dirtyPages(), dirty.isEmpty { backing = nil }
  }

  /// A copy that shares no mutable state, with nothing open or locked.
  func copy() throws(PlatformError) -> SimulatedInode {
    let copy = SimulatedInode(durable: durable)
    guard backing != nil else { return copy }
    let target = try copy.contents()
    try copy.setLength(length)
    for (index, page) in try dirtyPages().merging(wronglyClean, uniquingKeysWith: { dirty, _ in dirty }) {
      let start = index * PageImage.pageSize
      guard start < length else { continue }
      try Self.write(page.prefix(length - start), to: target, at: start)
    }
    copy.wronglyClean = wronglyClean
    return copy
  }

  /// Calls `body` with every page that may not be all zero, padded with zeros at the end of the file.
  private func forEachPage(_ body: (_ index: Int, _ page: UnsafeRawPointer) -> Void) throws(PlatformError) {
    guard let backing else { return }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * PageImage.pageSize, alignment: 16)
    defer { buffer.deallocate() }
    var offset = 0
    while let run = backing.data(from: offset), run.lowerBound < length {
      offset = run.lowerBound / PageImage.pageSize * PageImage.pageSize
      while offset < min(run.upperBound, length), let base = buffer.baseAddress {
        // Read, not mapped: looking at a hole through a mapping would allocate it.
        let count = try backing.file.read(into: buffer, at: offset)
        guard count > 0 else { return }
        memset(base + count, 0, buffer.count - count)
        for start in stride(from: 0, to: count, by: PageImage.pageSize) {
          body((offset + start) / PageImage.pageSize, base + start)
        }
        offset += (count + PageImage.pageSize - 1) / PageImage.pageSize * PageImage.pageSize
      }
    }
  }

  private static func write(_ bytes: ArraySlice<UInt8>, to file: any File, at offset: Int) throws(PlatformError) {
    let result: Result<Void, PlatformError> = bytes.withUnsafeBytes { buffer in
      Result { () throws(PlatformError) in try file.write(buffer, at: offset) }
    }
    try result.get()
  }
}
