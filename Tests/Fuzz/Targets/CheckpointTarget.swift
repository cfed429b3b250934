import EskerFormat
import EskerIndex
import EskerPlatform

extension FuzzTarget {
  /// A checkpoint: its header, the rest, its pages, and the index that they are.
  static let checkpoint = FuzzTarget(
    name: "checkpoint",
    repair: { input in
      var rest = input[...]
      var file = SparseFile(readingFrom: &rest)
      FileRepair.checkpoint(&file.bytes)
      input = file.encoded()
    },
    samples: {
      var inputs: [String: [UInt8]] = [:]
      // One that was left by a process has the checkpoint that it was opened with.
      for (name, files) in try Sample.stores() where !name.hasSuffix("killed") {
        for (file, bytes) in files where file.hasSuffix(".checkpoint") { inputs[name] = SparseFile(bytes).encoded() }
      }
      return inputs
    },
    run: { input in
      var rest = Array(input)[...]
      CheckpointFile.examine(SparseFile(readingFrom: &rest).bytes)
    }
  )
}

/// The contents of a checkpoint's file.
enum CheckpointFile {
  static func examine(_ bytes: [UInt8]) {
    let length = UInt64(bytes.count)
    guard let header = try? CheckpointHeader(decoding: bytes.span.bytes, fileLength: length) else { return }
    let again = requireAccepted("an encoded header") {
      try CheckpointHeader(decoding: header.encoded().span.bytes, fileLength: length)
    }
    require(again == header, "\(header) became \(again)")
    func part(_ offset: UInt64, _ length: Int) -> [UInt8] { Array(bytes[Int(offset)..<Int(offset) + length]) }
    let layout = header.layout
    let metaBytes = part(layout.metaOffset, Int(header.metaLength))
    let hasOrders = header.hasOrders
    let found = try? CheckpointMeta(
      decoding: metaBytes.span.bytes,
      checksum: header.metaChecksum,
      hasOrders: hasOrders
    )
    if let meta = found {
      for row in meta.orders where row.isWithin(length) { useKeys(row, part(row.offset, Int(row.byteCount))) }
      let encoded = meta.encoded()
      let checksum = CRC32C.checksum(of: encoded.span.bytes)
      let again = requireAccepted("an encoded meta section") {
        try CheckpointMeta(decoding: encoded.span.bytes, checksum: checksum, hasOrders: !meta.orders.isEmpty)
      }
      require(again == meta, "\(meta) became \(again)")
    }
    let table = part(layout.pageTableOffset, layout.pageTableLength)
    guard (try? CheckpointPages.verify(table.span.bytes, header)) != nil else { return }
    let image = ImageMemory(
      main: part(layout.mainOffset, Int(layout.mainLength)),
      overflow: part(layout.overflowOffset, Int(layout.overflowLength)),
      checksums: table
    )
    let epochs = EpochDomain()
    if let index = HashIndex(epochs: epochs, image: image.index(header)) { use(index) }
    epochs.collect()
  }

  /// Whatever is done with keys in order, until a page is found damaged.
  private static func useKeys(_ row: CheckpointMeta.Order, _ bytes: [UInt8]) {
    let extent = KeyImage.Extent(byteCount: bytes.count, root: Int(row.root), keyCount: Int(row.keyCount))
    var tree = KeyTree(ImageMemory(main: bytes, overflow: [], checksums: []).keys(extent))
    var last: [UInt8]?
    var count = 0
    func isAscending(_ prefix: UnsafeRawBufferPointer, _ rest: UnsafeRawBufferPointer) -> Bool {
      let key = Array(prefix) + Array(rest)
      if let last { require(last.lexicographicallyPrecedes(key), "keys are not in order") }
      last = key
      count += 1
      return true
    }
    do {
      try tree.forEach(from: nil, isAscending)
      for number in 0..<200 as Range<UInt8> {
        let key = (last ?? []).prefix(Int(number % 7)) + [number]
        _ = try Array(key).withUnsafeBytes { try tree.insert($0) }
      }
      if let last { _ = try last.withUnsafeBytes { try tree.remove($0) } }
      last = nil
      try tree.forEach(from: nil, isAscending)
      try tree.forEachBackwards(from: nil) { _, _ in true }
    } catch {}
  }

  /// Whatever is done with an index, wherever its lines lead.
  private static func use(_ index: HashIndex) {
    var entries: [IndexEntry] = []
    index.forEachEntry(inBuckets: 0..<index.bucketCount) { if entries.count < 100 { entries.append($0) } }
    for entry in entries {
      var probe = index.probe(entry.partialHash)
      var steps = 0
      while probe.next() != nil { steps += 1 }
      require(steps <= index.bucketCount * 7 + index.overflowLineCount * 7 + 7, "a probe does not end")
    }
    _ = index.checkInvariants()
    for number in 1...40 as ClosedRange<UInt64> {
      let hash = number &* 0x9e37_79b9_7f4a_7c15
      if index.insert(hash, address: number), !index.isDamaged {
        var probe = index.probe(hash)
        var isFound = false
        while let address = probe.next() { isFound = isFound || address == number }
        require(isFound || index.isDamaged, "what was inserted is not there")
      }
    }
    for entry in entries.prefix(20) { _ = index.remove(entry.partialHash, address: entry.address) }
    _ = index.removeEntries(inBuckets: 0..<8) { $0.address % 2 == 0 }
    index.prepareMigration()
    while index.migrateNextChunk() {}
    index.prepareGrowth()
    index.grow()
    export(index)
  }

  private static func export(_ index: HashIndex) {
    index.splitsPaused = true
    let length = IndexImage.sectionByteCount(lines: index.bucketCount)
    let main = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 64)
    defer { main.deallocate() }
    var overflow = OverflowImage()
    _ = index.exportBuckets(0..<index.bucketCount, main: main, overflow: &overflow)
    overflow.drain { _ in }
    index.splitsPaused = false
  }
}

/// Keeps the sections of an image, which the index may change.
private final class ImageMemory: @unchecked Sendable {
  private let main: UnsafeMutableRawBufferPointer
  private let overflow: UnsafeMutableRawBufferPointer
  private let checksums: UnsafeMutableRawBufferPointer

  init(main: [UInt8], overflow: [UInt8], checksums: [UInt8]) {
    self.main = Self.copy(main)
    self.overflow = Self.copy(overflow)
    self.checksums = Self.copy(checksums)
  }

  deinit { for section in [main, overflow, checksums] { section.deallocate() } }

  private static func copy(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 4096)
    memory.copyBytes(from: bytes)
    return memory
  }

  func keys(_ extent: KeyImage.Extent) -> KeyImage { KeyImage(main, extent, owner: self) }

  func index(_ header: CheckpointHeader) -> IndexImage {
    IndexImage(
      bucketCount: Int(header.bucketCount),
      overflowLineCount: Int(header.overflowCount),
      entryCount: Int(header.entryCount),
      main: main,
      overflow: overflow,
      pageChecksums: UnsafeRawBufferPointer(checksums),
      owner: self
    )
  }
}
