/// The positions of a checkpoint's sections: main lines, overflow lines, keys in order, page table, meta.
public struct CheckpointLayout: Hashable, Sendable {
  /// Where the buckets start, at a page boundary.
  public internal(set) var mainOffset: UInt64
  /// The length in bytes of the buckets, in whole pages.
  public let mainLength: UInt64
  /// Where the overflow lines start, at a page boundary.
  public internal(set) var overflowOffset: UInt64
  /// The length in bytes of the overflow lines, in whole pages.
  public let overflowLength: UInt64
  /// Where the page table starts.
  public internal(set) var pageTableOffset: UInt64
  /// Where the meta section starts.
  public internal(set) var metaOffset: UInt64

  /// The layout for an image of this size, one section after another.
  ///
  /// - Parameter orderLength: The bytes of all keys in order, in whole pages; they begin where the overflow lines end.
  public init(bucketCount: UInt64, overflowCount: UInt64, orderLength: UInt64 = 0) {
    let page = UInt64(CheckpointHeader.pageSize)
    let line = UInt64(CheckpointHeader.lineSize)
    mainOffset = page
    mainLength = (bucketCount * line + page - 1) / page * page
    overflowOffset = mainOffset + mainLength
    overflowLength = (overflowCount * line + page - 1) / page * page
    pageTableOffset = overflowOffset + overflowLength + orderLength
    metaOffset = pageTableOffset + ((mainLength + overflowLength) / page * 4 + 7) & ~7
  }

  /// The number of pages in the main section.
  public var mainPages: Int { Int(mainLength) / CheckpointHeader.pageSize }

  /// The number of pages in the overflow section.
  public var overflowPages: Int { Int(overflowLength) / CheckpointHeader.pageSize }

  /// The length in bytes of the page table: a checksum for each page of the main section, then of the overflow section.
  public var pageTableLength: Int { (mainPages + overflowPages) * 4 }

  /// The length in bytes of a file with this layout.
  public func fileLength(metaLength: UInt64) -> UInt64 { metaOffset + metaLength }

  /// Whether every section lies after the header and within the file, and the lines start at page boundaries.
  ///
  /// Overlapping sections do no harm: each has checksums of its own, and none is written to.
  func isWithin(_ fileLength: UInt64, metaLength: UInt64) -> Bool {
    let page = UInt64(CheckpointHeader.pageSize)
    guard mainOffset % page == 0, overflowOffset % page == 0, pageTableOffset % 8 == 0, metaOffset % 8 == 0 else {
      return false
    }
    let sections = [
      (mainOffset, mainLength), (overflowOffset, overflowLength), (pageTableOffset, UInt64(pageTableLength)),
      (metaOffset, metaLength),
    ]
    return sections.allSatisfy { offset, length in
      offset >= page && offset <= fileLength && length <= fileLength - offset
    }
  }
}
