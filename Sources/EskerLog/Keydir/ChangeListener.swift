/// What happened to a key of a keyspace, or to all of them, in copied bytes.
package enum KeyspaceChange: Sendable {
  /// The value that a change took away; an error if it cannot be read.
  package typealias Before = Result<[UInt8], StoreError>

  /// Why a value is gone.
  package enum Cause: Sendable {
    /// Somebody removed it.
    case removal
    /// Its time was over, and its entry was taken out.
    case expiry
    /// It had to make room.
    case eviction
  }

  /// A value was written; there was none before if that is nil.
  case put(key: [UInt8], before: Before?, after: [UInt8])
  /// A value is gone.
  case loss(key: [UInt8], before: Before, cause: Cause)
  /// The keyspace was emptied.
  case emptied
}

/// Hears each change of a keyspace, whoever makes it: writes, each of a batch too, and expired and evicted entries as they are
/// taken out. What a merge moves is no change.
///
/// Called under the writer's lock, so in the order in which changes take effect: it must be quick, must not call the store,
/// and must not wait for anything that somebody holds who calls the store.
package protocol ChangeListener: AnyObject, Sendable {
  /// There is a change of `key`, nil for one of all keys. `change` copies what it takes to tell it, for who wants to keep it.
  func hear(_ key: [UInt8]?, _ change: () -> KeyspaceChange)
}

// All of these are called under the writer's lock.
//
// Safety: the writer's caller keeps key and value until the write returns, and listeners get copies.
extension KeyspaceCore {
  /// Tells of a value that was written over what `existing` leads to. An expired one has gone before.
  @inline(never)
  func tellPut(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, replacing existing: Existing) {
    let listeners = watchers.listeners
    if listeners.isEmpty { return }
    let keyBytes = unsafe [UInt8](key)
    var replaced = existing.address == 0 ? nil : existing
    if existing.address != 0, isExpired(existing) {
      tellLoss(keyBytes, existing, .expiry)
      replaced = nil
    }
    for listener in listeners {
      listener.hear(keyBytes) {
        unsafe .put(key: keyBytes, before: replaced.map(keydir.value), after: [UInt8](value))
      }
    }
  }

  /// Tells of a value that was removed.
  @inline(never)
  func tellRemoval(_ key: UnsafeRawBufferPointer, of existing: Existing) {
    if watchers.listeners.isEmpty { return }
    unsafe tellLoss([UInt8](key), existing, isExpired(existing) ? .expiry : .removal)
  }

  /// Tells that a key has lost its value.
  func tellLoss(_ key: [UInt8], _ existing: Existing, _ cause: KeyspaceChange.Cause) {
    for listener in watchers.listeners {
      listener.hear(key) { .loss(key: key, before: keydir.value(of: existing), cause: cause) }
    }
  }

  /// Tells that all keys are gone.
  func tellEmptied() {
    for listener in watchers.listeners { listener.hear(nil) { .emptied } }
  }

  private func isExpired(_ existing: Existing) -> Bool {
    existing.damage == nil && existing.visibleVersion(at: keydir.env.time.now) == nil
  }
}

extension Keydir {
  /// The value that a writer found. The caller holds the writer's lock since, so no merge has taken it away.
  fileprivate func value(of existing: Existing) -> KeyspaceChange.Before {
    do throws(StoreError) {
      if let found = existing.damage { throw damage(at: existing.address, found, key: nil) }
      guard let place = granules.place(of: existing.address), let record = StoredRecord(at: place) else {
        throw damage(at: existing.address, .truncated, key: nil)
      }
      // Nobody has looked at more of it than the key.
      guard record.headIsIntact else { throw damage(at: existing.address, record.damage ?? .headerChecksum, key: nil) }
      switch record {
      // Safety: under the lock that it was found under, the record stays mapped; see `findForWrite`.
      case .plain(let record, _): return unsafe .success([UInt8](record.value))
      case .packed: return .success(try packedValue(at: existing.address))
      }
    } catch {
      return .failure(error)
    }
  }
}
