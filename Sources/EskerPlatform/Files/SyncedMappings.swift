/// The writable mappings of one file, for systems whose file sync does not write what was stored through them.
struct SyncedMappings {
  private struct Entry {
    weak var mapping: OSMapping?
  }

  private var entries: [ObjectIdentifier: Entry] = [:]
  /// The error of a mapping that could not be written when it was unmapped; the file's next sync must report it.
  private var pendingError: Int32 = 0

  mutating func add(_ mapping: OSMapping) {
    entries[ObjectIdentifier(mapping)] = Entry(mapping: mapping)
  }

  mutating func remove(_ mapping: ObjectIdentifier, writeError: Int32) {
    entries[mapping] = nil
    if pendingError == 0 { pendingError = writeError }
  }

  /// The mappings a sync must write first, an error it must already report (0: none), and whether a mapping is being
  /// released.
  mutating func takeForSync() -> (mappings: [OSMapping], error: Int32, isLeaving: Bool) {
    defer { pendingError = 0 }
    let mappings = entries.values.compactMap(\.mapping)
    return (mappings, pendingError, mappings.count < entries.count)
  }
}
