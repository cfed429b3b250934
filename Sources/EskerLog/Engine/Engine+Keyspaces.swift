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
    return try maintainer.countLive(in: cores)
  }

  /// Finds keyspaces, creates those that do not exist, and records forms of keys and values where none are: durably and in one
  /// edit of the manifest. A form that is recorded stays, and with it the other one if `forms` contradict it.
  ///
  /// A read-only store records nothing.
  func keyspaces(
    named names: [String],
    recording forms: KeyspaceForms = KeyspaceForms()
  ) throws(StoreError) -> [KeyspaceCore] {
    for name in names where name.utf8.count > 255 { throw .invalidKeyspace(name) }
    if let cores = known(names, recording: forms) { return cores }
    if env.isFollowing {
      // The writer may have created or recorded it meanwhile.
      try follower.refresh()
      let isReader = env.options.readOnly
      if let cores = known(names, recording: isReader ? KeyspaceForms() : forms) { return cores }
      if isReader, let name = names.first(where: { keydir.keyspaces[$0] == nil }) { throw .noSuchKeyspace(name) }
    }
    defer { env.deliverEvents() }
    return try inTurn { () throws(StoreError) in try addKeyspaces(named: names, recording: forms) }
  }

  private func addKeyspaces(
    named names: [String],
    recording forms: KeyspaceForms
  ) throws(StoreError) -> [KeyspaceCore] {
    // Again only if another thread removes one of them meanwhile.
    while true {
      try env.checkWritable()
      // The names of keyspaces are free once their removal is durable: until then, a crash may bring them back.
      let listed = catalog.manifest.keyspaces.filter { keydir.keyspaces.isRemoved($0.id) }.map(\.name)
      if !listed.isEmpty, !Set(listed).isDisjoint(with: names) { try commits.waitDurable(writer.lastVisible) }
      // Listed in the manifest first: a record must never be on disk without the name and the forms of its keyspace.
      let manifest = try catalog.addKeyspaces(named: names, recording: forms)
      guard keydir.keyspaces.add(manifest) else { throw .closed }
      if let cores = known(names, recording: forms) { return cores }
    }
  }

  /// Records the forms of a keyspace that somebody has already, where none are recorded.
  func record(_ forms: KeyspaceForms, of core: KeyspaceCore) throws(StoreError) {
    try core.checkPresent()
    _ = try keyspaces(named: [core.name], recording: forms)
    try core.checkPresent()
  }

  /// The keyspaces with these names; nil unless all of them exist, and an edit would record nothing.
  private func known(_ names: [String], recording forms: KeyspaceForms) -> [KeyspaceCore]? {
    var cores: [KeyspaceCore] = []
    cores.reserveCapacity(names.count)
    for name in names {
      guard let core = keydir.keyspaces[name] else { return nil }
      let recorded = core.forms
      guard recorded.completed(by: forms) == recorded else { return nil }
      cores.append(core)
    }
    return cores
  }

  /// Removes the keyspace called `name`; returns 0 if there is none.
  func removeKeyspace(named name: String) throws(StoreError) -> UInt64 {
    guard !name.isEmpty else { throw .invalidKeyspace(name) }
    if let core = keydir.keyspaces[name] { return try remove(core) }
    // Another process may have created it.
    if try claimTurn() {
      defer { endClaim() }
      if let core = keydir.keyspaces[name] { return try remove(core) }
    }
    try env.checkMayWrite()
    return 0
  }

  /// Removes a keyspace, and notifies its watchers as if it were emptied, and that nothing follows; returns 0 if it was removed
  /// before.
  func remove(_ core: KeyspaceCore) throws(StoreError) -> UInt64 {
    // Also if the removal is logged and what follows fails.
    defer { endRemoved() }
    let sequence = try makingRoom { () throws(StoreError) in try writer.removeKeyspace(core) }
    for watcher in core.watchers.watchers { watcher.afterEmptying() }
    wakeFeeds()
    env.workers.maintainer.request(.purge)
    return sequence
  }

  /// Tells the watchers and listeners of removed keyspaces that nothing follows, and releases them.
  func endRemoved() {
    for core in keydir.keyspaces.takeEnding() { end(core, .keyspaceRemoved(core.name)) }
  }

  /// Tells the watchers and listeners of a keyspace that nothing follows, and releases them. None can be added any more.
  func end(_ core: KeyspaceCore, _ error: StoreError) {
    // Under the lock, so behind every write.
    let (watchers, listeners) = writer.withLock { _ in core.watchers.removeAll(core) }
    for watcher in watchers { watcher.didEnd() }
    for listener in listeners { listener.didEnd(error) }
  }

  func setDefaultExpiry(_ duration: Duration?, of core: KeyspaceCore) throws(StoreError) {
    defer { env.deliverEvents() }
    try inTurn { () throws(StoreError) in
      try env.checkWritable()
      try core.checkPresent()
      let milliseconds = duration.map { max(0, $0.wholeMilliseconds) } ?? -1
      try catalog.setDefaultExpiry(milliseconds, of: core.id)
      try core.checkPresent()
      core.defaultExpiryMilliseconds.store(milliseconds, ordering: .relaxed)
      keydir.keyspaces.noteChange(of: core)
    }
  }

  /// Sets what a keyspace may take.
  ///
  /// - Parameter evicts: Whether what is more than that goes at once, also if there was no change.
  func setBudget(_ budget: KeyspaceBudget, of core: KeyspaceCore, evicts: Bool) throws(StoreError) {
    defer { env.deliverEvents() }
    try inTurn { () throws(StoreError) in try setBudget(budget, of: core) }
    guard evicts else { return }
    defer { wakeFeeds() }
    try makingRoom { () throws(StoreError) in try writer.evict(from: core, toAdd: 0, entries: 0) }
  }

  private func setBudget(_ budget: KeyspaceBudget, of core: KeyspaceCore) throws(StoreError) {
    try env.checkWritable()
    try core.checkPresent()
    if budget != core.budget {
      let marks = core.newMarks(for: budget)
      do throws(StoreError) { try catalog.setBudget(budget, of: core.id) } catch {
        marks?.deallocate()
        throw error
      }
      writer.withLock { _ in core.limit(to: budget, isEmpty: core.count == 0, marks) }
      try core.checkPresent()
      keydir.keyspaces.noteChange(of: core)
    }
  }

  /// Empties a keyspace, and notifies its watchers; see `Writer.reset(_:)`.
  func removeAll(in core: KeyspaceCore) throws(StoreError) -> UInt64 {
    let sequence = try makingRoom { () throws(StoreError) in try writer.reset(core) }
    for watcher in core.watchers.watchers { watcher.afterEmptying() }
    wakeFeeds()
    env.workers.maintainer.request(.purge)
    return sequence
  }

  func resetClock() throws(StoreError) {
    defer { env.deliverEvents() }
    try inTurn { () throws(StoreError) in
      try env.checkWritable()
      try catalog.resetClock()
    }
  }
}
