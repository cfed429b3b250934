internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Engine {
  var keyspaceNames: [String] {
    get throws(StoreError) {
      try env.checkOpen()
      return keydir.keyspaces.all.map(\.name).filter { !$0.isEmpty }
    }
  }

  /// The number of entries of some keyspaces that have not expired; a read-only store first catches up with its writer.
  func liveCount(of cores: [KeyspaceCore]) throws(StoreError) -> Int {
    defer { env.deliverEvents() }
    try checkBeforeRead()
    return try keeper.countLive(in: cores)
  }

  /// Finds a keyspace, or creates it durably.
  func keyspace(named name: String) throws(StoreError) -> KeyspaceCore {
    guard name.utf8.count <= 255 else { throw .invalidKeyspace(name) }
    if let core = keydir.keyspaces[name] { return core }
    if env.options.readOnly { try follower.refresh() }
    if let core = keydir.keyspaces[name] { return core }
    defer { env.deliverEvents() }
    try env.checkWritable()
    // Listed in the manifest first: a record must never be on disk without the name of its keyspace.
    let row = try catalog.addKeyspace(named: name)
    guard keydir.keyspaces.add([row]), let core = keydir.keyspaces[name] else { throw .closed }
    return core
  }

  func setDefaultExpiry(_ duration: Duration?, of core: KeyspaceCore) throws(StoreError) {
    defer { env.deliverEvents() }
    try env.checkWritable()
    let milliseconds = duration.map { max(0, $0.wholeMilliseconds) } ?? -1
    try catalog.setDefaultExpiry(milliseconds, of: core.id)
    core.defaultExpiryMilliseconds.store(milliseconds, ordering: .relaxed)
  }

  /// Empties a keyspace, and notifies its watchers; see `Writer.reset(_:)`.
  func removeAll(in core: KeyspaceCore) throws(StoreError) -> UInt64 {
    let sequence = try makingRoom { () throws(StoreError) in try writer.reset(core) }
    for watcher in core.watchers.watchers { watcher.afterEmptying() }
    feeds.tell()
    env.workers.keeper.request(.sweep)
    return sequence
  }

  func resetClock() throws(StoreError) {
    defer { env.deliverEvents() }
    try env.checkWritable()
    try catalog.resetClock()
  }
}
