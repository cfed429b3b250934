internal import EskerFormat
internal import EskerLog
internal import EskerPlatform

/// The files of a damaged store: its manifest, if any, and its segments.
struct SalvageSource {
  private(set) var manifest: Manifest?
  private(set) var segments: [SegmentFile] = []
  /// Segments that could not be opened.
  private(set) var losses: [SalvageReport.Loss] = []
  let path: String
  /// The store time of the manifest, or the wall clock if later, in milliseconds.
  let now: Int64
  /// Keeps writers out while the files are read.
  private var lock: (any File)?

  init(at path: String, host: StoreHost) throws(StoreError) {
    let fileSystem = host.platform.fileSystem
    let files = try ClosedStore(at: path, host: host)
    let path = files.path
    self.path = path
    let names = try files.names()
    lock = try files.lock(names)
    let found = try Self.readManifest(files)
    manifest = found
    now = max(found?.storeTime ?? .min, host.platform.clock.wallMilliseconds())
    let rows = Dictionary(uniqueKeysWithValues: (found?.segments ?? []).map { ($0.id, $0) })
    for name in names {
      guard let id = ClosedStore.segmentID(name) else { continue }
      // A file that the manifest does not list is superseded, or was never part of the store.
      if found != nil, rows[id] == nil { continue }
      try open(id, "\(path)/\(name)", rows[id], fileSystem)
    }
    for row in (found?.segments ?? []) where !names.contains(ClosedStore.segmentName(row.id)) {
      lose(row.id, "\(path)/\(ClosedStore.segmentName(row.id))", "the segment is missing", row)
    }
    dropForeign()
  }

  private static func readManifest(_ files: ClosedStore) throws(StoreError) -> Manifest? {
    do throws(StoreError) {
      return try files.manifest()
    } catch {
      if case .unknownFormat = error { throw error }
      if case .accessDenied = error { throw error }
      // A read error counts as damage too.
      return nil
    }
  }

  private mutating func open(
    _ id: UInt64,
    _ path: String,
    _ row: SegmentRow?,
    _ fileSystem: any FileSystem
  ) throws(StoreError) {
    let end = manifest.flatMap { manifest in row.flatMap { $0.trustedEnd(in: manifest) } }
    do throws(PlatformError) {
      guard let segment = try SegmentFile(id, at: path, row: row, end: end, fileSystem) else {
        let isEmpty = try fileSystem.status(path)?.size ?? 0 <= SegmentHeader.length
        if !isEmpty { lose(id, path, "nothing recognisable in the segment", row) }
        return
      }
      segments.append(segment)
    } catch {
      // It is not lost: another time, it can be read.
      if error.isDenied { throw StoreError(error) }
      lose(id, path, "the segment cannot be read: \(errorMessage(error.code))", row)
    }
  }

  /// Drops the files of other stores: those without the store id of the manifest or, if there is none, of most files.
  private mutating func dropForeign() {
    var counts: [StoreID: Int] = [:]
    for segment in segments { if let id = segment.storeID { counts[id, default: 0] += 1 } }
    guard let own = manifest?.storeID ?? counts.max(by: { $0.value < $1.value })?.key else { return }
    for segment in segments {
      guard let id = segment.storeID, id != own else { continue }
      let row = manifest?.segments.first { $0.id == segment.id }
      lose(segment.id, segment.path, "the file is a segment of another store", row)
    }
    segments.removeAll { $0.storeID != nil && $0.storeID != own }
  }

  /// The seed of the store's key hashes, if any file contains it.
  var seed: HashSeed? { manifest?.seed ?? segments.lazy.compactMap(\.seed).first }

  /// Notes that a whole segment is lost, with the records that it had, as far as its row can tell.
  private mutating func lose(_ id: UInt64, _ path: String, _ reason: String, _ row: SegmentRow?) {
    let lost = row.flatMap { records(of: $0) }
    let text = lost.map { ": \($0.text)" } ?? ""
    losses.append(
      SalvageReport.Loss(
        location: StoreError.Location(path: path, segment: id),
        length: 0,
        reason: reason + text,
        records: lost?.count ?? 0
      )
    )
  }

  /// The records that a segment has: all of its numbers, if it is one of the log from which no merge has taken any and in which none has
  /// replaced another, and otherwise as many of them as fit.
  private func records(of row: SegmentRow) -> LostRecords? {
    guard let numbers = row.numbers, let manifest else { return nil }
    if row.kind == .log, manifest.mergedThrough < row.firstSequence { return LostRecords(numbers) }
    return LostRecords(
      in: row.layout.recordsStart..<max(row.layout.recordsStart, Int(row.recordsEnd)),
      row.layout,
      of: numbers
    )
  }
}
