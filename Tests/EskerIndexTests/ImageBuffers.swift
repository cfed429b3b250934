import EskerIndex
import EskerPlatform
import Synchronization
import Testing

/// An exported image in memory, as a checkpoint's private mapping shows it.
final class ImageBuffers: @unchecked Sendable {
  let bucketCount: Int
  let overflowLineCount: Int
  let entryCount: Int
  let main: UnsafeMutableRawBufferPointer
  let overflow: UnsafeMutableRawBufferPointer
  let checksums: UnsafeMutableRawBufferPointer

  /// How many images were not released yet.
  static let alive = Atomic<Int>(0)

  /// Exports a whole index, a thousand buckets at a time.
  init(exporting index: HashIndex, slice: Int = 1000) throws {
    index.splitsPaused = true
    defer { index.splitsPaused = false }
    let main = ImageBuffers.make(IndexImage.sectionByteCount(lines: index.bucketCount))
    var overflowBytes: [UInt8] = []
    var overflow = OverflowImage()
    var isWhole = true
    for start in stride(from: 0, to: index.bucketCount, by: slice) {
      let range = start..<min(start + slice, index.bucketCount)
      let part = UnsafeMutableRawBufferPointer(rebasing: main[range.lowerBound * 64..<range.upperBound * 64])
      isWhole = index.exportBuckets(range, main: part, overflow: &overflow) && isWhole
      if overflow.pendingByteCount > 1000 { overflow.drain { overflowBytes += Array($0) } }
    }
    overflow.drain { overflowBytes += Array($0) }
    #expect(isWhole)
    self.main = main
    bucketCount = index.bucketCount
    overflowLineCount = overflow.lineCount
    entryCount = index.count
    #expect(overflowBytes.count == overflow.lineCount * 64)
    self.overflow = ImageBuffers.make(IndexImage.sectionByteCount(lines: overflow.lineCount))
    self.overflow.copyBytes(from: overflowBytes)
    checksums = ImageBuffers.make((main.count + self.overflow.count) / 4096 * 4)
    seal()
    ImageBuffers.alive.wrappingAdd(1, ordering: .relaxed)
  }

  deinit {
    main.deallocate()
    overflow.deallocate()
    checksums.deallocate()
    ImageBuffers.alive.wrappingAdd(-1, ordering: .relaxed)
  }

  /// Computes the page checksums from what the sections hold now.
  func seal() {
    var pages: [UInt32] = []
    for section in [main, overflow] {
      var sums = PageChecksums()
      // In uneven pieces, as a writer may hand them in.
      for start in stride(from: 0, to: section.count, by: 4900) {
        sums.append(UnsafeRawBufferPointer(rebasing: section[start..<min(start + 4900, section.count)]))
      }
      #expect(sums.finish() == 0)
      pages += sums.values
    }
    for (number, value) in pages.enumerated() {
      checksums.storeBytes(of: value.littleEndian, toByteOffset: number * 4, as: UInt32.self)
    }
  }

  var image: IndexImage {
    IndexImage(
      bucketCount: bucketCount,
      overflowLineCount: overflowLineCount,
      entryCount: entryCount,
      main: main,
      overflow: overflow,
      pageChecksums: UnsafeRawBufferPointer(checksums),
      owner: self
    )
  }

  func adopt(_ epochs: EpochDomain = EpochDomain()) throws -> HashIndex {
    guard let index = HashIndex(epochs: epochs, image: image) else { throw NoMemory() }
    return index
  }

  private static func make(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4096)
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    return buffer
  }
}
