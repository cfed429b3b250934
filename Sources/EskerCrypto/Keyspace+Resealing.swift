#if Crypto
  public import Esker
  internal import EskerPlatform
  internal import Foundation

  /// What sealing a keyspace anew has done.
  public struct Resealing: Sendable {
    /// A value that could not be sealed anew.
    public struct Failure: Sendable {
      /// Its key; nil if it cannot be read.
      public var key: [UInt8]?
      /// A ``SealingError``, or a `StoreError` for a damaged record.
      public var error: any Error
    }

    /// How many failures are kept.
    public static var mostFailures: Int { 16 }

    /// The number of values that were sealed anew.
    public internal(set) var resealed = 0
    /// The number of values that the last look found sealed with the current key.
    public internal(set) var current = 0
    /// The number of values that somebody else wrote between the look and the write. Another look followed.
    public internal(set) var overtaken = 0
    /// The number of values that the last look could not open. They were left as they are.
    public internal(set) var unreadable = 0
    /// The first of these.
    public internal(set) var failures: [Failure] = []
    /// Whether the last look found no value of another key, and could open all it had to. If not, others go on to write with another key: call
    /// again when they have the ring of today.
    public internal(set) var isComplete = false

    mutating func add(_ error: any Error, key: [UInt8]?) {
      unreadable += 1
      if failures.count < Self.mostFailures { failures.append(Failure(key: key, error: error)) }
    }
  }

  extension Keyspace {
    /// Seals all values anew that were sealed with another key than the current one, beside readers and writers.
    ///
    /// ```swift
    /// try keys.rotate(to: next)
    /// let result = try store.keyspace("letters").reseal(with: keys)
    /// if result.isComplete { try keys.remove(id: old) }
    /// ```
    ///
    /// A value is replaced only if nobody has written it meanwhile, and keeps its expiry. Values of the current key are not touched: a call
    /// that was interrupted, by whatever, is simply made again. When the call returns, all that was written before is durable, by others
    /// too: no power failure brings back a value of another key that was replaced.
    ///
    /// For observers and feeds of changes these are writes like others, and of a keyspace with a capacity they make entries young. What
    /// they replace stays in the files until a merge, as it was sealed, and in backups: an old key that is thrown away takes that along.
    ///
    /// It looks until it finds nothing more to do, at most eight times. A write that had begun before the rotation may still end afterwards:
    /// before the old key is thrown away, let a second call find nothing.
    ///
    /// - Parameters:
    ///   - keys: the ring with the current key, and with those that values were sealed with.
    ///   - progress: called with the share of the present look that is done, from 0 to 1; returns false to stop.
    /// - Throws: `StoreError.cancelled` if `progress` stopped it; what a snapshot, a write and a sync throw. What was sealed by then stays. A value
    ///   that cannot be opened is in the result, and not thrown.
    /// - Complexity: O(entries of the keyspace), those of the whole store if there are more than some hundreds, each time it looks.
    @discardableResult
    public func reseal(
      with keys: KeyRing,
      progress: ((Double) -> Bool)? = nil
    ) throws(StoreError) -> Resealing {
      var result = Resealing()
      for _ in 0..<8 {
        let before = (result.resealed, result.overtaken)
        (result.current, result.unreadable, result.failures) = (0, 0, [])
        try look(keys, &result, progress)
        if (result.resealed, result.overtaken) == before {
          result.isComplete = result.unreadable == 0
          break
        }
      }
      // Also where nothing was left to do: what has the current key may be in the cache only, and the old key is needed as long as a power
      // failure can bring back what it has sealed.
      try store.syncAll()
      return result
    }

    /// The same for tasks: one of Esker's threads does it, and the task waits. A task that is cancelled stops it.
    @discardableResult
    public nonisolated(nonsending) func reseal(
      with keys: KeyRing,
      progress: (@Sendable (Double) -> Bool)? = nil
    ) async throws(StoreError) -> Resealing {
      let stop = CancellationFlag()
      let outcome = await withTaskCancellationHandler { () async -> Result<Resealing, StoreError> in
        do throws(StoreError) {
          return .success(
            try await IOThreads.shared.run(orThrow: StoreError.cancelled) { () throws(StoreError) in
              try reseal(with: keys) { share in !stop.isSet && progress?(share) != false }
            }
          )
        } catch {
          return .failure(error)
        }
      } onCancel: {
        stop.set()
      }
      return try outcome.get()
    }

    private func look(
      _ keys: KeyRing,
      _ result: inout Resealing,
      _ progress: ((Double) -> Bool)?
    ) throws(StoreError) {
      func report(_ share: Double) throws(StoreError) {
        if progress?(share) == false { throw .cancelled }
      }
      let snapshot = try store.snapshot()
      try snapshot.forEachEntry(in: self, progress: report) { (record) throws(StoreError) in
        try reseal(record, keys, &result)
      }
      try report(1)
    }

    private func reseal(
      _ record: borrowing Snapshot.Entry,
      _ keys: KeyRing,
      _ result: inout Resealing
    ) throws(StoreError) {
      var known: [UInt8]?
      do {
        let (key, value) = try unsealed(record, keys)
        known = key
        guard let value else {
          result.current += 1
          return
        }
        var sealed: [UInt8] = []
        try value.withBytes { value throws in
          try key.withBytes { key throws in
            try SealedValue.seal(value, key, name, with: keys) { sealed = $0.copied() }
          }
        }
        let written = try compareAndSet(
          sealed,
          forKey: key,
          ifVersion: record.version,
          expiry: record.expiry,
          durability: .buffered
        )
        if written == nil { result.overtaken += 1 } else { result.resealed += 1 }
      } catch let error as SealingError {
        result.add(error, key: known ?? (try? record.key()))
      } catch StoreError.damaged(let location, let reason) {
        result.add(StoreError.damaged(location, reason: reason), key: try? record.key())
      } catch let error as StoreError {
        throw error
      } catch {
        result.add(error, key: known)
      }
    }

    /// The key of a record, and its value, opened; nil if that needs no sealing anew.
    private func unsealed(
      _ record: borrowing Snapshot.Entry,
      _ keys: KeyRing
    ) throws -> (key: [UInt8], value: Data?) {
      var key: [UInt8] = []
      var outcome: Result<Data?, SealingError> = .success(nil)
      try record.withBytes { (keyBytes, value) throws(StoreError) in
        key = keyBytes.copied()
        do throws(SealingError) {
          let head = try SealedValue.Head(value)
          if head != SealedValue.Head(of: keys.present.current) {
            outcome = .success(try SealedValue.open(value, keyBytes, name, with: keys))
          }
        } catch {
          outcome = .failure(error)
        }
      }
      return (key, try outcome.get())
    }
  }
#endif
