/// A change to one key of a keyspace, or to all of them, with copied bytes.
package enum KeyspaceChange: Sendable {
  /// The value before the change; an error if it cannot be read.
  package typealias Before = Result<[UInt8], StoreError>

  /// Why a value is gone.
  package enum Cause: Sendable {
    /// It was removed.
    case removal
    /// It expired, and its entry was removed.
    case expiry
    /// It was evicted to make room.
    case eviction
  }

  /// A value was written; `before` is nil if the key had none.
  case put(key: [UInt8], before: Before?, after: [UInt8])
  /// A value is gone.
  case loss(key: [UInt8], before: Before, cause: Cause)
  /// The keyspace was emptied.
  case emptied
}

/// Receives every change to a keyspace: each write, including those of batches, and each expired or evicted entry as it is
/// removed. Records that a merge moves are not changes.
///
/// Called under the writer's lock, so in the order in which changes take effect: it must be quick, must not call the store,
/// and must not wait for a lock that a caller of the store may hold.
package protocol ChangeListener: AnyObject, Sendable {
  /// Called on a change to `key`, or to all keys if that is nil. `change` makes a copy of the details, for listeners that need
  /// them.
  func receive(_ key: [UInt8]?, _ change: () -> KeyspaceChange)

  /// What is received up to the next `endBatch` is what the batch whose last record has this number does to the keyspace. Nothing
  /// if that changes nothing.
  func beginBatch(_ sequence: UInt64)

  /// The batch is complete, and visible under its number.
  func endBatch()

  /// Called once after the last change, without the writer's lock: the store was closed, or the keyspace removed, and operations
  /// throw `error` from now on. The listener is released.
  func didEnd(_ error: StoreError)
}

extension ChangeListener {
  package func beginBatch(_ sequence: UInt64) {}
  package func endBatch() {}
  package func didEnd(_ error: StoreError) {}
}

// All of these are called under the writer's lock.
//
// Safety: the writer's caller keeps key and value until the write returns, and listeners get copies.
extension KeyspaceCore {
  /// Notifies the listeners that a value replaced `existing`. If that had expired, they are notified of its loss first.
  @inline(never)
  func notifyPut(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, replacing existing: CurrentRecord) {
    let listeners = watchers.listeners
    if listeners.isEmpty { return }
    let keyBytes = unsafe [UInt8](key)
    var replaced = existing.address == 0 ? nil : existing
    if existing.address != 0, isExpired(existing) {
      notifyLoss(keyBytes, existing, .expiry)
      replaced = nil
    }
    for listener in listeners {
      listener.receive(keyBytes) {
        unsafe .put(key: keyBytes, before: replaced.map(keydir.value), after: [UInt8](value))
      }
    }
  }

  /// Notifies the listeners that `existing` was removed.
  @inline(never)
  func notifyRemoval(_ key: UnsafeRawBufferPointer, of existing: CurrentRecord) {
    if watchers.listeners.isEmpty { return }
    unsafe notifyLoss([UInt8](key), existing, isExpired(existing) ? .expiry : .removal)
  }

  /// Notifies the listeners of a put or a removal that another process has made, in place of `existing`, if there is one. Nothing is told
  /// of a record that cannot be read.
  @inline(never)
  func notifyReplay(of record: LogRecord, replacing existing: CurrentRecord) {
    guard !watchers.listeners.isEmpty, let place = keydir.granules.place(of: record.address),
      let found = StoredRecord(at: place), found.headIsIntact
    else { return }
    let key = found.key
    // Safety: the array outlives the calls, and listeners get copies. The record stays mapped under the writer's lock.
    unsafe key.withUnsafeBytes { key in
      if record.kind != .put {
        if existing.address != 0 { unsafe notifyRemoval(key, of: existing) }
      } else if case .plain(let view, _) = found {
        unsafe notifyPut(key, view.value, replacing: existing)
      } else if let value = try? keydir.packedValue(at: record.address) {
        unsafe value.withUnsafeBytes { value in unsafe notifyPut(key, value, replacing: existing) }
      }
    }
  }

  func notifyLoss(_ key: [UInt8], _ existing: CurrentRecord, _ cause: KeyspaceChange.Cause) {
    for listener in watchers.listeners {
      listener.receive(key) { .loss(key: key, before: keydir.value(of: existing), cause: cause) }
    }
  }

  func notifyEmptied() {
    for listener in watchers.listeners { listener.receive(nil) { .emptied } }
  }

  func notifyBeginOfBatch(_ sequence: UInt64) {
    for listener in watchers.listeners { listener.beginBatch(sequence) }
  }

  func notifyEndOfBatch() {
    for listener in watchers.listeners { listener.endBatch() }
  }

  private func isExpired(_ existing: CurrentRecord) -> Bool {
    existing.damage == nil && existing.visibleVersion(at: keydir.env.time.now) == nil
  }
}

extension Keydir {
  /// The value of a record that the caller has found under its present hold of the writer's lock.
  fileprivate func value(of existing: CurrentRecord) -> KeyspaceChange.Before {
    do throws(StoreError) {
      if let found = existing.damage { throw damage(at: existing.address, found, key: nil) }
      guard let place = granules.place(of: existing.address), let record = StoredRecord(at: place) else {
        throw damage(at: existing.address, .truncated, key: nil)
      }
      // Only the key has been compared so far.
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
