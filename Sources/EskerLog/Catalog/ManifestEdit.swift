internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// A change to the manifest.
enum ManifestEdit {
  /// Writing begins: until the next clean close, an opening must look for a crash.
  case beginWriting(nextSequence: UInt64)
  /// The opening chose other settings than the store remembers.
  case settings(nextSequence: UInt64)
  /// The list of segments changed, or the store time is to be saved.
  case listed
  /// A store with a capacity has more spares.
  case spares
  /// A merge is durable: its outputs replace its inputs. The checkpoint points to the inputs, so it is dropped too.
  case merged(removing: [Segment], adding: [Segment])
  /// Segments may make room from now on. The checkpoint points to them, so it is dropped too.
  case evicting([Segment])
  /// A checkpoint is durable.
  case checkpoint(UInt64)
  /// The checkpoint turned out to be damaged, or is dropped.
  case noCheckpoint
  /// The store is closed; nothing is in flight.
  case clean(checkpoint: UInt64, nextSequence: UInt64)
}

// Edits that are calls by themselves check again whether the store accepts writes: it may have been closed while they
// waited.

extension Catalog {
  /// Writes a new manifest, durably.
  func commit(_ edit: ManifestEdit) throws(StoreError) {
    switch edit {
    case .merged(let removed, let added):
      try write(replacing: (removed, added)) { manifest in edit.apply(to: &manifest) }
    case .spares, .evicting:
      try write(isBrief: true) { manifest in edit.apply(to: &manifest) }
    default:
      try write { manifest in edit.apply(to: &manifest) }
    }
  }

  /// Lists keyspaces with these names, unless there are some already, with forms of keys and values where none are recorded;
  /// returns the manifest that lists them.
  func addKeyspaces(named names: [String], recording forms: KeyspaceForms) throws(StoreError) -> Manifest {
    // In one edit, so that no other thread creates one of these names or ids in between.
    try write(isAll: true) { (manifest) throws(StoreError) -> Manifest in
      try env.checkWritable()
      var known = Set(manifest.keyspaces.map(\.name))
      for name in names where known.insert(name).inserted {
        guard manifest.nextKeyspaceID < .max - 1 else { throw .invalidKeyspace(name) }
        manifest.keyspaces.append(KeyspaceRow(id: manifest.nextKeyspaceID, name: name))
        manifest.nextKeyspaceID += 1
      }
      let wanted = Set(names)
      for position in manifest.keyspaces.indices where wanted.contains(manifest.keyspaces[position].name) {
        manifest.keyspaces[position].forms = manifest.keyspaces[position].forms.completed(by: forms)
      }
      return manifest
    }
  }

  /// Saves a keyspace's default expiry, in milliseconds; -1 for none.
  func setDefaultExpiry(_ milliseconds: Int64, of keyspace: UInt32) throws(StoreError) {
    try write(isAll: true) { (manifest) throws(StoreError) in
      try env.checkWritable()
      for position in manifest.keyspaces.indices where manifest.keyspaces[position].id == keyspace {
        manifest.keyspaces[position].defaultExpiry = milliseconds
      }
    }
  }

  /// Saves what a keyspace may take.
  func setBudget(_ budget: KeyspaceBudget, of keyspace: UInt32) throws(StoreError) {
    try write(isAll: true) { (manifest) throws(StoreError) in
      try env.checkWritable()
      for position in manifest.keyspaces.indices where manifest.keyspaces[position].id == keyspace {
        manifest.keyspaces[position].budget = budget
      }
    }
  }

  /// Saves the current store time, so that what has expired stays expired.
  func saveTime() throws(StoreError) {
    try write { (_) throws(StoreError) in try env.checkWritable() }
  }

  /// Sets store time to the wall clock once, even if that is earlier.
  func resetClock() throws(StoreError) {
    var before: Int64?
    do throws(StoreError) {
      try write(isAll: true) { (manifest) throws(StoreError) in
        try env.checkWritable()
        before = env.time.reset()
        manifest.storeTime = env.time.now
      }
    } catch {
      if let before { env.time.restore(before) }
      throw error
    }
  }
}

extension ManifestEdit {
  fileprivate func apply(to manifest: inout Manifest) {
    switch self {
    case .beginWriting(let nextSequence):
      manifest.state = .open
      manifest.nextSequence = max(manifest.nextSequence, nextSequence)
    case .settings(let nextSequence):
      // The list may already lack what a cut discards, and with it the numbers that were used there.
      manifest.nextSequence = max(manifest.nextSequence, nextSequence)
    case .listed, .spares:
      break
    case .merged(let removed, _):
      manifest.checkpointID = 0
      for segment in removed where segment.kind == .log {
        manifest.mergedThrough = max(manifest.mergedThrough, segment.lastSequence)
      }
    case .evicting(let segments):
      manifest.checkpointID = 0
      for segment in segments where segment.kind == .log {
        manifest.mergedThrough = max(manifest.mergedThrough, segment.lastSequence)
      }
      // They need not be durable: what is written after a power failure must not have numbers that pass for merged away.
      manifest.nextSequence = max(manifest.nextSequence, manifest.mergedThrough &+ 1)
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
  }
}

extension Manifest {
  /// In a closed store, a segment whose end is not known is empty, even if a write is about to begin with it: this manifest may
  /// be the last one before a crash.
  mutating func forgetBeginnings() {
    for position in segments.indices where segments[position].claimedEnd == nil { segments[position].firstSequence = 0 }
  }

  /// From a closed store, nothing is removed before the next writer says so: it begins with a checkpoint.
  mutating func forgetEvictions() {
    for position in segments.indices { segments[position].evictionPlace = 0 }
  }
}
