/// An index as stored in a checkpoint, in memory that this process may change without changing the file.
///
/// Both sections consist of 64-byte lines in whole pages of 4,096 bytes, padded with zeros: the buckets, and the overflow
/// lines they link to, of which line 0 is reserved. Words are little-endian.
///
/// Safety: `owner` keeps the three buffers valid, and nobody else uses them any more. Nothing here reads or writes them:
/// `HashIndex` takes their addresses after `isConsistent` has checked lengths and alignment.
@safe
public struct IndexImage {
  /// The unit of verification.
  public static let pageByteCount = 4096

  /// The number of buckets in the first section.
  public var bucketCount: Int
  /// The number of lines in the second section, including the reserved line 0.
  public var overflowLineCount: Int
  /// The number of entries in both sections together.
  public var entryCount: Int
  /// The buckets, aligned to 64 bytes.
  public var main: UnsafeMutableRawBufferPointer
  /// The overflow lines, aligned to 64 bytes.
  public var overflow: UnsafeMutableRawBufferPointer
  /// A CRC-32C for each page of the first section, then of the second, four bytes each.
  public var pageChecksums: UnsafeRawBufferPointer
  /// Keeps the three buffers valid; released once they are no longer used.
  public var owner: any AnyObject & Sendable

  /// Describes an image; see ``HashIndex/init(epochs:image:)``.
  public init(
    bucketCount: Int,
    overflowLineCount: Int,
    entryCount: Int,
    main: UnsafeMutableRawBufferPointer,
    overflow: UnsafeMutableRawBufferPointer,
    pageChecksums: UnsafeRawBufferPointer,
    owner: any AnyObject & Sendable
  ) {
    self.bucketCount = bucketCount
    self.overflowLineCount = overflowLineCount
    self.entryCount = entryCount
    unsafe self.main = main
    unsafe self.overflow = overflow
    unsafe self.pageChecksums = pageChecksums
    self.owner = owner
  }

  /// The size in bytes of a section with this many lines, in whole pages.
  public static func sectionByteCount(lines: Int) -> Int {
    (lines * Line.byteCount + pageByteCount - 1) / pageByteCount * pageByteCount
  }

  /// Whether the numbers are consistent with each other and the buffers.
  var isConsistent: Bool {
    guard (Geometry.minimumBucketCount...Geometry.maximumBucketCount).contains(bucketCount),
      (1...1 << 32).contains(overflowLineCount), entryCount >= 0,
      entryCount <= (bucketCount + overflowLineCount) * Line.slotCount
    else { return false }
    let mainBytes = IndexImage.sectionByteCount(lines: bucketCount)
    let overflowBytes = IndexImage.sectionByteCount(lines: overflowLineCount)
    return unsafe main.count == mainBytes && overflow.count == overflowBytes
      && pageChecksums.count == (mainBytes + overflowBytes) / IndexImage.pageByteCount * 4
      && isAligned(main.baseAddress) && isAligned(overflow.baseAddress)
  }

  /// The addresses of a section and of its page checksums.
  struct Addresses {
    let lines: UInt
    let pageCount: Int
    let checksums: UInt
  }

  var mainAddresses: Addresses {
    unsafe Addresses(
      lines: UInt(bitPattern: main.baseAddress),
      pageCount: main.count / IndexImage.pageByteCount,
      checksums: UInt(bitPattern: pageChecksums.baseAddress)
    )
  }

  /// The addresses for the second section; its checksums follow those of the first.
  var overflowAddresses: Addresses {
    unsafe Addresses(
      lines: UInt(bitPattern: overflow.baseAddress),
      pageCount: overflow.count / IndexImage.pageByteCount,
      checksums: mainAddresses.checksums + UInt(mainAddresses.pageCount * 4)
    )
  }

  private func isAligned(_ address: UnsafeMutableRawPointer?) -> Bool {
    guard let address = unsafe address else { return false }
    return UInt(bitPattern: address) % UInt(Line.byteCount) == 0
  }
}
