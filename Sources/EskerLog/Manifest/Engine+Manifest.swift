internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// What the manifest says, and what is needed to say it anew.
struct ManifestState {
  let files: ManifestFiles
  /// The last manifest that was written, or read.
  var manifest: Manifest
  var nextSegmentID: UInt64
  var nextKeyspaceID: UInt32
  /// True once the store is closed: from then on the files may be another process's.
  private(set) var isEnded = false

  init(files: ManifestFiles, manifest: Manifest) {
    self.files = files
    self.manifest = manifest
    nextSegmentID = manifest.nextSegmentID
    nextKeyspaceID = (manifest.keyspaces.map(\.id).max() ?? 0) + 1
  }

  mutating func end() {
    isEnded = true
    files.close()
  }
}

/// Why the manifest is written.
enum ManifestEdit {
  /// Writing begins: until the next clean close, an opening must look for a crash.
  case beginWriting(nextSequence: UInt64)
  /// The list of segments or keyspaces changed.
  case listed
  /// A merge is durable: its outputs take the place of its inputs. The checkpoint leads to the inputs, so it goes too.
  case merged(removing: [Segment], adding: [Segment])
  /// A checkpoint is durable.
  case checkpoint(UInt64)
  /// Store time goes back to the wall clock's.
  case clockReset
  /// The checkpoint turned out damaged.
  case noCheckpoint
  /// The store is closed; nothing is in flight.
  case clean(checkpoint: UInt64, nextSequence: UInt64)
}

extension Engine {
  /// Writes the manifest anew from the present state, durably.
  ///
  /// What it says was consulted in memory, so nothing in it may run ahead of the log on disk: rows say `sealed` only of
  /// what is durable or cut, and an emptied keyspace shows its old incarnation until the reset is durable.
  ///
  /// - Parameter isAll: The edit is all that the call does: if nobody knows whether it took place, the call says so.
  /// - Throws: ``StoreError/closed`` once the store is, which the caller may have had no chance to see: it looked, and then
  ///   waited for a lock.
  func editManifest(_ edit: ManifestEdit, isAll: Bool = false) throws(StoreError) {
    // What is on disk is not known any more: there is nothing to go on from.
    if let code = commits.failureCode { throw .syncFailed(errno: code) }
    let failure: PlatformError? = try manifests.withLock { (state) throws(StoreError) -> PlatformError? in
      guard !state.isEnded else { throw .closed }
      var manifest = state.manifest
      manifest.generation += 1
      let durable = durableSequence
      manifest.durableSequence = max(manifest.durableSequence, durable)
      manifest.storeTime = max(manifest.storeTime, time.now)
      manifest.nextSegmentID = state.nextSegmentID
      var list = segments.withLock { $0 }
      if case .merged(let removed, let added) = edit {
        list = added + list.filter { segment in !removed.contains { $0 === segment } }
      }
      manifest.segments = list.map { row(of: $0, durable: durable) }
      manifest.keyspaces = keyspaces.withLock { $0.byID.values.map { Self.row(of: $0, durable: durable) } }
        .sorted { $0.id < $1.id }
      switch edit {
      case .beginWriting(let nextSequence):
        manifest.state = .open
        manifest.nextSequence = max(manifest.nextSequence, nextSequence)
      case .listed:
        break
      case .clockReset:
        manifest.storeTime = time.now
      case .merged(let removed, _):
        manifest.checkpointID = 0
        for segment in removed where segment.kind == .log {
          manifest.mergedThrough = max(manifest.mergedThrough, segment.lastSequence.load(ordering: .relaxed))
        }
      case .checkpoint(let id):
        manifest.checkpointID = id
        manifest.nextCheckpointID = id + 1
      case .noCheckpoint:
        manifest.checkpointID = 0
      case .clean(let checkpoint, let nextSequence):
        manifest.state = .clean
        manifest.nextSequence = nextSequence
        manifest.checkpointID = checkpoint
        manifest.nextCheckpointID = max(manifest.nextCheckpointID, checkpoint + 1)
      }
      session?.syncBegan()
      do throws(ManifestFiles.Failure) {
        let count = try state.files.write(manifest, session)
        bytesWritten.wrappingAdd(count, ordering: .relaxed)
      } catch {
        guard case .nothingWritten(let reason) = error else { return error.error }
        session?.syncEnded()
        throw StoreError(reason, needed: manifest.encoded().count)
      }
      session?.syncEnded()
      state.manifest = manifest
      if case .merged(let removed, let added) = edit {
        // Not `list`: a segment may have been created meanwhile.
        segments.withLock { list in
          list = added + list.filter { segment in !removed.contains { $0 === segment } }
        }
      }
      return nil
    }
    if let failure {
      commits.fail(failure.code)
      throw isAll ? .outcomeUnknown(errno: failure.code) : StoreError(failure)
    }
  }

  private func row(of segment: Segment, durable: UInt64) -> SegmentRow {
    var row = SegmentRow(
      id: segment.id,
      salt: segment.salt,
      kind: segment.kind,
      state: .active,
      granule: UInt32(segment.granule),
      granules: UInt32(segment.granuleCount)
    )
    row.dictionaryLength = segment.layout.dictionaryLength
    row.firstSequence = segment.firstSequence.load(ordering: .relaxed)
    guard segment.isSettled.load(ordering: .acquiring) else {
      // Where the tail of a closed store ends; an opening after a crash looks for itself.
      row.lastSequence = segment.lastSequence.load(ordering: .relaxed)
      row.recordsEnd = UInt64(segment.recordsEnd.load(ordering: .relaxed))
      // A close gives back what has not been used.
      let length = segment.durableLength.load(ordering: .relaxed)
      row.fileLength = UInt64(row.recordsEnd == 0 ? length : min(length, segment.usedLength))
      return row
    }
    row.state = .sealed
    row.lastSequence = segment.lastSequence.load(ordering: .relaxed)
    row.recordsEnd = UInt64(segment.recordsEnd.load(ordering: .relaxed))
    let footer = segment.footer.withLock { $0 }
    row.footerOffset = UInt64(footer.offset)
    row.footerLength = UInt64(footer.length)
    row.minExpiry = footer.minExpiry
    row.maxExpiry = footer.maxExpiry
    row.neverExpiring = footer.neverExpiring
    row.fileLength = row.footerOffset == 0 ? row.recordsEnd : row.footerOffset + row.footerLength
    return row
  }

  private static func row(of core: KeyspaceCore, durable: UInt64) -> KeyspaceRow {
    let reset = core.resetSequence.load(ordering: .acquiring)
    let incarnation =
      reset > durable
      ? core.incarnationBeforeReset.load(ordering: .relaxed) : core.tag.incarnation
    return KeyspaceRow(
      id: core.id,
      incarnation: incarnation,
      defaultExpiry: core.defaultExpiryMilliseconds.load(ordering: .relaxed),
      name: core.name
    )
  }
}
