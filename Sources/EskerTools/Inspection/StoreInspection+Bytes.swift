internal import EskerFormat
public import EskerLog
internal import EskerPlatform

extension StoreInspection {
  /// Finds a run of bytes in the store's files: reads every byte of each, and unpacks what is packed.
  ///
  /// So it tells whether anything is left of what was erased. Keys and values of records are found whole; the parts of a value that a
  /// dictionary has, only if they have all of the bytes.
  ///
  /// - Parameters:
  ///   - bytes: What to look for; at least four bytes say anything.
  ///   - progress: Called with the share done, from 0 to 1; returns false to stop.
  /// - Returns: Where they stand, by file and offset. Empty if they are nowhere.
  /// - Throws: `StoreError.cancelled` if `progress` stopped it; `StoreError.failed(operation:path:errno:)`.
  /// - Complexity: O(bytes of all files). Each segment file is in memory through a mapping, others in pieces.
  public func occurrences(
    of bytes: [UInt8],
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> [ByteOccurrence] {
    guard !bytes.isEmpty else { return [] }
    let fileSystem = host.platform.fileSystem
    var found: [ByteOccurrence] = []
    do throws(PlatformError) {
      let names = try fileSystem.list(path).sorted()
      for (position, name) in names.enumerated() {
        if progress?(Double(position) / Double(names.count)) == false {
          throw PlatformError("search", path: path, code: 0)
        }
        let path = "\(path)/\(name)"
        // A merge may have removed it, and what it had is in others.
        guard let status = try fileSystem.status(path), status.size > 0 else { continue }
        let offsets = try Self.offsets(of: bytes, in: path, fileSystem)
        found += places(offsets, of: bytes, in: path, ClosedStore.segmentID(name))
      }
    } catch {
      if error.code == 0 { throw .cancelled }
      throw StoreError(error)
    }
    _ = progress?(1)
    return found
  }

  /// The offsets at which bytes stand in a file.
  private static func offsets(
    of bytes: [UInt8],
    in path: String,
    _ fileSystem: any FileSystem
  ) throws(PlatformError) -> [Int] {
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    let size = try file.status().size
    var offsets: [Int] = []
    var start = 0
    while start < size, let data = file.nextData(from: start) {
      // A run may begin in front of what is not a hole.
      start = max(start, data - bytes.count + 1)
      let piece = try file.bytes(in: start..<min(size, start + 1 << 20))
      guard piece.count >= bytes.count else { break }
      offsets += Self.positions(of: bytes, in: piece).map { start + $0 }
      start += piece.count - bytes.count + 1
    }
    return offsets
  }

  private static func positions(of bytes: [UInt8], in other: [UInt8]) -> [Int] {
    var positions: [Int] = []
    var position = 0
    while position + bytes.count <= other.count, let next = other[position...].firstIndex(of: bytes[0]) {
      if next + bytes.count <= other.count, other[next..<next + bytes.count].elementsEqual(bytes) {
        positions.append(next)
      }
      position = next + 1
    }
    return positions
  }

  /// What stands at those offsets of a file, and what is packed in it.
  private func places(_ offsets: [Int], of bytes: [UInt8], in path: String, _ id: UInt64?) -> [ByteOccurrence] {
    func elsewhere(_ offset: Int) -> ByteOccurrence { ByteOccurrence(path: path, offset: offset, place: .elsewhere) }
    guard let id, let file = try? open(id) else { return offsets.map(elsewhere) }
    if file.packedView != nil {
      let packed = packedPlaces(of: bytes, in: file, path)
      // What is not compressed is found twice.
      return packed
        + offsets.filter { offset in !packed.contains { Self.extent(of: $0).contains(offset) } }.map(elsewhere)
    }
    guard !offsets.isEmpty else { return [] }
    var rest = offsets[...]
    var found: [ByteOccurrence] = []
    for case .record(let record) in SegmentRecords(file, self) {
      let body = record.offset..<record.offset + record.size
      while let offset = rest.first, offset < body.upperBound {
        rest.removeFirst()
        guard body.contains(offset), record.damage == nil else {
          found.append(elsewhere(offset))
          continue
        }
        let isInKey = offset < Self.keyStart(record) + record.key.count
        found.append(ByteOccurrence(path: path, offset: offset, place: isInKey ? .key(record) : .value(record)))
      }
    }
    return found + rest.map(elsewhere)
  }

  private static func keyStart(_ record: RecordDescription) -> Int {
    let extensions = (record.expiry == .never ? 0 : 1) + (record.keyspaceID == 0 && record.incarnation == 0 ? 0 : 1)
    return record.offset + RecordLayout.headerLength + 8 * extensions
  }

  /// What a packed record takes, or its cell.
  private static func extent(of occurrence: ByteOccurrence) -> Range<Int> {
    switch occurrence.place {
    case .elsewhere: return occurrence.offset..<occurrence.offset
    case .key(let record), .value(let record), .unreadable(let record):
      guard PackedLayout.isInCell(record.offset) else { return record.offset..<record.offset + record.size }
      let start = record.offset & ~(PackedLayout.cellLength - 1)
      return start..<start + PackedLayout.cellLength
    }
  }

  private func packedPlaces(of bytes: [UInt8], in file: SegmentFile, _ path: String) -> [ByteOccurrence] {
    guard let view = file.packedView else { return [] }
    var walk = PackedWalk(view)
    var found: [ByteOccurrence] = []
    while let step = walk.next(in: view) {
      guard case .record(let entry) = step else { continue }
      func add(_ place: (RecordDescription) -> ByteOccurrence.Place) {
        let record = RecordDescription(entry, in: file, view, keyspaceName(entry.keyspace.id))
        found.append(ByteOccurrence(path: path, offset: entry.offset, place: place(record)))
      }
      if Self.positions(of: bytes, in: entry.key).first != nil { add { .key($0) } }
      guard let value = view.intactValue(of: entry) else {
        add { .unreadable($0) }
        continue
      }
      if Self.positions(of: bytes, in: value).first != nil { add { .value($0) } }
    }
    return found
  }
}
