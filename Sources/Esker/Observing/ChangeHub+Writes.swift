/// Writes as views make them: with the value before, if anybody wants to hear it.
extension ChangeHub {
  /// Runs `write` between entering and leaving.
  private func bracket<R>(_ write: () throws(StoreError) -> (R, ByteChange?)) throws(StorageError) -> R {
    let ticket = enterWrite()
    do throws(StoreError) {
      let (result, change) = try write()
      leaveWrite(ticket, change)
      return result
    } catch {
      // A write whose sync failed is there, and nobody can say what it replaced.
      var change: ByteChange?
      if case .syncFailed = error { change = ByteChange(sequence: 0, key: [], action: .missed(1)) }
      leaveWrite(ticket, change)
      throw .store(error)
    }
  }

  /// Stores a value, and tells what it replaced if anybody listens; the write's place in history.
  @usableFromInline @discardableResult
  func put(_ value: RawSpan, forKey key: RawSpan, expiry: Expiry?) throws(StorageError) -> SequenceNumber? {
    try announcing(key) { () throws(StorageError) -> SequenceNumber? in
      if isObserved { return try putObserved(value, forKey: key, expiry: expiry) }
      do throws(StoreError) {
        return try keyspace.put(value, forKey: key, expiry: expiry)
      } catch {
        throw .store(error)
      }
    }
  }

  private func putObserved(
    _ value: RawSpan,
    forKey key: RawSpan,
    expiry: Expiry?
  ) throws(StorageError) -> SequenceNumber? {
    let after = value.copied()
    let keyBytes = key.copied()
    return try bracket { () throws(StoreError) in
      var before: [UInt8]?
      let sequence = try keyspace.update(forKey: keyBytes) { (found) throws(StoreError) -> Update in
        if let found { before = found.copied() } else { before = nil }
        return .put(after, expiry: expiry)
      }
      return (
        sequence,
        ByteChange(sequence: sequence?.rawValue ?? 0, key: keyBytes, action: .put(before: before, after: after))
      )
    }
  }

  /// Stores a value if the key's version is still `version`; false when it is not.
  func put(
    _ value: RawSpan,
    forKey key: RawSpan,
    expiry: Expiry?,
    ifVersion version: SequenceNumber?
  ) throws(StorageError) -> Bool {
    try announcing(key) { () throws(StorageError) -> Bool in
      try putAnnounced(value, forKey: key, expiry: expiry, ifVersion: version)
    }
  }

  private func putAnnounced(
    _ value: RawSpan,
    forKey key: RawSpan,
    expiry: Expiry?,
    ifVersion version: SequenceNumber?
  ) throws(StorageError) -> Bool {
    guard isObserved else {
      do throws(StoreError) {
        return try keyspace.compareAndSet(value, forKey: key, ifVersion: version, expiry: expiry) != nil
      } catch {
        throw .store(error)
      }
    }
    let after = value.copied()
    let keyBytes = key.copied()
    return try bracket { () throws(StoreError) in
      // If it is not of that version any more, nothing is written and nothing told.
      let before = try keyspace.get(keyBytes)
      let sequence = try keyspace.compareAndSet(after, forKey: keyBytes, ifVersion: version, expiry: expiry)
      guard let sequence else { return (false, nil) }
      let action = ByteChange.Action.put(before: version == nil ? nil : before, after: after)
      return (true, ByteChange(sequence: sequence.rawValue, key: keyBytes, action: action))
    }
  }

  /// Removes a key, and tells what was there if anybody listens; whether it was.
  @usableFromInline
  func remove(_ key: RawSpan) throws(StorageError) -> Bool {
    try announcing(key) { () throws(StorageError) -> Bool in
      if isObserved { return try remove(key.copied()) { _ in true } }
      do throws(StoreError) {
        return try keyspace.remove(key)
      } catch {
        throw .store(error)
      }
    }
  }

  /// Removes a key if its version is still `version`; false when it is not.
  func remove(_ key: RawSpan, ifVersion version: SequenceNumber?) throws(StorageError) -> Bool {
    let keyBytes = key.copied()
    return try announcing(key) { () throws(StorageError) -> Bool in
      try remove(keyBytes) { (keyspace) throws(StoreError) in
        // The value was lent before this look. Versions only grow, so if it is the one wanted now, it was that then.
        try keyspace.metadata(forKey: keyBytes)?.version == version
      }
    }
  }

  private func remove(
    _ key: [UInt8],
    if condition: (Keyspace) throws(StoreError) -> Bool
  ) throws(StorageError) -> Bool {
    try bracket { () throws(StoreError) in
      var before: [UInt8]?
      let sequence = try keyspace.update(forKey: key) { (found) throws(StoreError) -> Update in
        guard let found, try condition(keyspace) else { return .keep }
        before = found.copied()
        return .remove
      }
      guard let sequence else { return (false, nil) }
      return (true, ByteChange(sequence: sequence.rawValue, key: key, action: .removal(before: before ?? [])))
    }
  }

  func removeAll() throws(StorageError) {
    try announcingRemovalOfAll { () throws(StorageError) in
      try bracket { () throws(StoreError) in
        try keyspace.removeAll()
        return ((), ByteChange(sequence: keyspace.store.lastSequence.rawValue, key: [], action: .removalOfAll))
      }
    }
  }

  func removeExpired() throws(StorageError) -> Int {
    try bracket { () throws(StoreError) in
      let count = try keyspace.removeExpired()
      let change = ByteChange(
        sequence: keyspace.store.lastSequence.rawValue,
        key: [],
        action: .removalOfExpired(count)
      )
      return (count, count > 0 ? change : nil)
    }
  }
}
