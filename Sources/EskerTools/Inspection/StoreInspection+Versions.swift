internal import EskerFormat
public import EskerLog
internal import EskerPlatform

extension StoreInspection {
  /// Finds all records of a key that are still on disk, newest first.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - keyspace: The keyspace's name; empty for the default one.
  ///   - progress: Called with the share done, from 0 to 1; returns false to stop.
  /// - Returns: The records found; empty if the key was never written or none of its records are left. The first one
  ///   decides, unless it is ``KeyVersion/Standing/uncommitted`` or ``KeyVersion/Standing/emptied``.
  /// - Throws: `StoreError.cancelled` if `progress` stopped it; `StoreError.invalidKeyspace(_:)` if the manifest contains
  ///   no such keyspace; `StoreError.damaged(_:reason:)` if no file contains the seed of the key hashes;
  ///   `StoreError.failed(operation:path:errno:)`. Missing segments are skipped; ``segments`` lists them.
  /// - Complexity: O(records); only the footer is read of segments that have one.
  public func versions(
    of key: [UInt8],
    in keyspace: String = "",
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> [KeyVersion] {
    var inspection = self
    for _ in 0..<8 {
      if let versions = try inspection.findVersions(of: key, in: keyspace, progress, mayBeMissing: false) {
        return versions
      }
      // A merge has removed a segment: its records are in another by now.
      host.platform.pause()
      inspection = try StoreInspection(at: path, host: host)
    }
    return try inspection.findVersions(of: key, in: keyspace, progress, mayBeMissing: true) ?? []
  }

  /// Nil if a segment has disappeared meanwhile.
  private func findVersions(
    of key: [UInt8],
    in keyspace: String,
    _ progress: ((Double) -> Bool)?,
    mayBeMissing: Bool
  ) throws(StoreError) -> [KeyVersion]? {
    let known = keyspace.isEmpty ? 0 : manifest?.keyspaces.first { $0.name == keyspace }?.id
    guard let id = known else { throw .invalidKeyspace(keyspace) }
    var search = KeySearch(key, keyspace: id, seed: decoded?.seed)
    let listed = segments.filter(\.isListed)
    for (position, segment) in listed.enumerated() {
      if progress?(Double(position) / Double(max(1, listed.count))) == false { throw .cancelled }
      if segment.fileBytes == nil { continue }
      do throws(StoreError) {
        search.take(try open(segment.id), decoded?.segments.first { $0.id == segment.id })
      } catch {
        guard case .damaged = error else { throw error }
        let isThere = (try? host.platform.fileSystem.status(segment.path)) != nil
        if !isThere, !mayBeMissing { return nil }
      }
    }
    if search.seed == nil, !listed.isEmpty {
      throw .damaged(StoreError.Location(path: path), reason: "no file contains the seed of the store's key hashes")
    }
    return standings(of: search)
  }

  private func standings(of search: KeySearch) -> [KeyVersion] {
    let newestFirst = search.found.sorted { left, right in
      // A tombstone may have the same number as the record that it replaces.
      (left.record.sequence, left.record.kind == .put ? 0 : 1)
        > (right.record.sequence, right.record.kind == .put ? 0 : 1)
    }
    let now = max(decoded?.storeTime ?? .min, host.platform.clock.wallMilliseconds())
    let told = decoded?.keyspaces.first { $0.id == search.keyspace }?.incarnation ?? 0
    // The manifest may not include the last emptying of a keyspace yet.
    let incarnation = max(told, search.incarnation)
    var isDecided = false
    return newestFirst.map { match in
      var record = match.record
      record.keyspace = keyspaceName(record.keyspaceID)
      func standing() -> KeyVersion.Standing {
        guard match.isCommitted else { return .uncommitted }
        guard record.incarnation >= incarnation else { return .emptied }
        guard !isDecided else { return .superseded }
        isDecided = true
        if record.kind != .put { return .deletes }
        if case .at(let time) = record.expiry, time.millisecondsSince1970 <= now { return .expired }
        return .current
      }
      return KeyVersion(record: record, standing: standing())
    }
  }
}

/// Searches for the records of one key.
///
/// Safety: arrays outlive the calls that borrow their bytes.
private struct KeySearch {
  struct Match {
    var record: RecordDescription
    /// False until the end of its batch was read.
    var isCommitted: Bool
  }

  let key: [UInt8]
  let keyspace: UInt32
  var seed: HashSeed?
  private(set) var found: [Match] = []
  /// The latest incarnation of the keyspace in any record.
  private(set) var incarnation: UInt32 = 0
  /// The key's hash, by incarnation of the keyspace.
  private var hashes: [KeyspaceTag: UInt64] = [:]

  init(_ key: [UInt8], keyspace: UInt32, seed: HashSeed?) {
    self.key = key
    self.keyspace = keyspace
    self.seed = seed
  }

  mutating func take(_ file: SegmentFile, _ row: SegmentRow?) {
    seed = seed ?? file.seed
    if let row, let (footer, bytes) = file.footer(row), takeFooter(footer, bytes, file) { return }
    if let view = file.packedView {
      takePacked(view, file)
    } else {
      takePlain(file)
    }
  }

  /// False if the footer is inconsistent: then the records are read.
  private mutating func takeFooter(_ footer: SegmentFooter, _ bytes: [UInt8], _ file: SegmentFile) -> Bool {
    var places: [Int] = []
    var cursor = footer.entries(file.layout)
    let bytes = ContiguousArray(bytes)
    do throws(FormatError) {
      while let entry = unsafe try cursor.next(in: bytes.span.bytes) {
        if isLikely(entry.keyspace, entry.keyHash), entry.kind != .reset { places.append(Int(entry.offset)) }
      }
    } catch { return false }
    for offset in places { add(offset, file) }
    return true
  }

  private mutating func takePacked(_ view: PackedSegmentView, _ file: SegmentFile) {
    var walk = PackedWalk(view)
    while let step = walk.next(in: view) {
      guard case .record(let entry) = step, entry.keyspace.id == keyspace else { continue }
      incarnation = max(incarnation, entry.keyspace.incarnation)
      guard entry.key == key else { continue }
      found.append(Match(record: RecordDescription(entry, in: file, view, nil), isCommitted: true))
    }
  }

  private mutating func takePlain(_ file: SegmentFile) {
    var offset = SegmentHeader.length
    var openBatch = found.count
    var isOpen = false
    while offset < file.end {
      guard case .record(let header) = file.readRecord(at: offset) else {
        guard let next = file.nextRecord(after: offset) else { break }
        offset = next
        continue
      }
      if header.kind == .seal { break }
      if header.kind == .filler {
        offset += header.size
        continue
      }
      if isLikely(header.keyspace, header.keyHash) { add(offset, file, isCommitted: !header.batchContinues) }
      isOpen = header.batchContinues && file.isLog
      if !isOpen {
        for position in openBatch..<found.count { found[position].isCommitted = true }
        openBatch = found.count
      }
      offset += header.size
    }
    // A complete segment has no open batch: damage hides its end.
    if isOpen, file.declaredEnd != nil {
      for position in openBatch..<found.count { found[position].isCommitted = true }
    }
  }

  private mutating func isLikely(_ tag: KeyspaceTag, _ hash: UInt64) -> Bool {
    guard tag.id == keyspace, let seed else { return false }
    incarnation = max(incarnation, tag.incarnation)
    if let known = hashes[tag] { return known == hash }
    let own = unsafe key.withUnsafeBytes { unsafe KeyHash(seed: seed, keyspace: tag).hash($0) }
    hashes[tag] = own
    return own == hash
  }

  private mutating func add(_ offset: Int, _ file: SegmentFile, isCommitted: Bool = true) {
    if let view = file.packedView {
      guard let entry = view.entry(at: offset), entry.key == key else { return }
      found.append(Match(record: RecordDescription(entry, in: file, view, nil), isCommitted: isCommitted))
    } else if case .record(let header) = file.readRecord(at: offset), header.kind != .reset {
      let record = RecordDescription(header, at: offset, in: file, nil)
      // If the body is damaged, so may be the key; the hash in the header identifies it.
      guard record.key == key || record.damage != nil else { return }
      found.append(Match(record: record, isCommitted: isCommitted))
    }
  }
}
