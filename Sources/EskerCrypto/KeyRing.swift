#if Crypto
  internal import Synchronization

  /// The keys that values are sealed with: the current one seals, all of them open.
  ///
  /// ```swift
  /// let keys = try KeyRing(contentsOfFile: "/etc/app/keys")
  /// let letters = try store.storage("letters", transformer: Transformer<Letter>.binary.sealed(with: keys))
  /// ```
  ///
  /// Each sealed value says which key it was sealed with, by the key's ``Key/id``. ``rotate(to:writingFile:)`` makes another key the current
  /// one, from the next write on, and values of older keys stay readable; `Keyspace.reseal(with:)` seals them anew.
  ///
  /// A key is good for 2^32 values, those that were replaced included: nonces are random, of 96 bits. Then rotate. Give each store keys of its
  /// own: what binds a value to its place are the names of key and keyspace, which two stores may share.
  ///
  /// Safe to use from any thread; a call sees either all of a change or nothing of it. Keys are in memory as long as the ring is.
  ///
  /// Safety: the keys that `last` leads to are never released as long as the ring exists: `all` has each of them.
  @safe
  public final class KeyRing: Sendable {
    /// The keys at one moment. The first is the current one.
    final class Keys: Sendable {
      let keys: [Key]

      init(_ keys: [Key]) { self.keys = keys }

      var current: Key { keys[0] }

      func key(_ id: UInt32) -> Key? { keys.first { $0.id == id } }
    }

    /// Leads to the last one of `all`. Read without a lock, as each call of a sealed storage does.
    private let last: Atomic<Unmanaged<Keys>>
    private let all: Mutex<[Keys]>

    /// A ring of keys, of which `current` seals and the others only open.
    ///
    /// - Throws: ``Failure/duplicate(id:)``.
    public init(_ current: Key, older: [Key] = []) throws(Failure) {
      let keys = Keys(try Self.checked([current] + older))
      all = Mutex([keys])
      unsafe last = Atomic(Unmanaged.passUnretained(keys))
    }

    /// The keys at present.
    var present: Keys { unsafe last.load(ordering: .acquiring).takeUnretainedValue() }

    /// The id of the key that seals.
    public var currentID: UInt32 { present.current.id }

    /// The ids of all keys, the current one first.
    public var ids: [UInt32] { present.keys.map(\.id) }

    // MARK: Rotation

    /// Makes `key` the current one: the next write seals with it. The key may be in the ring already. Values of the others stay readable.
    ///
    /// What a key seals is lost without it, so it has to be kept before it seals: in the file at `path`, which is written, durably, before
    /// the key becomes the current one; or in another place by the caller, before this call. Where several processes open the store,
    /// ``add(_:)`` the key in each of them before any of them seals with it.
    ///
    /// - Parameters:
    ///   - key: the new current key.
    ///   - path: the file for the keys of the ring as they are then, of mode 0600; see ``write(toFile:)``.
    /// - Throws: ``Failure/duplicate(id:)`` if the ring has another key with that id, ``Failure/file(path:operation:errno:)``. The ring has
    ///   not changed then.
    public func rotate(to key: Key, writingFile path: String? = nil) throws(Failure) {
      try change { (keys) throws(Failure) in
        let next = try Self.checked([key] + keys.filter { !$0.isSame(as: key) })
        if let path { try Self.write(next, toFile: path) }
        return next
      }
    }

    /// Adds a key that only opens.
    ///
    /// - Throws: ``Failure/duplicate(id:)`` if the ring has another key with that id. Nothing has changed then.
    public func add(_ key: Key) throws(Failure) {
      try change { (keys) throws(Failure) in
        if keys.contains(where: { $0.isSame(as: key) }) { return keys }
        return try Self.checked(keys + [key])
      }
    }

    /// Takes a key out: values that were sealed with it can no longer be read. `Keyspace.reseal(with:)` tells whether there are any.
    ///
    /// The key itself stays in memory as long as the ring.
    ///
    /// - Throws: ``Failure/current(id:)`` for the current key, ``Failure/unknown(id:)`` for one that the ring does not have.
    public func remove(id: UInt32) throws(Failure) {
      try change { (keys) throws(Failure) in
        guard keys.contains(where: { $0.id == id }) else { throw .unknown(id: id) }
        guard keys[0].id != id else { throw .current(id: id) }
        return keys.filter { $0.id != id }
      }
    }

    /// Takes over the keys of another ring, and which of them is the current one: what a file says that has changed, for instance.
    public func replace(by other: KeyRing) {
      let keys = other.present.keys
      all.withLock { all in set(keys, &all) }
    }

    private func change(_ body: ([Key]) throws(Failure) -> [Key]) throws(Failure) {
      try all.withLock { (all) throws(Failure) in set(try body(present.keys), &all) }
    }

    private func set(_ keys: [Key], _ all: inout [Keys]) {
      let known = present.keys
      let isSame = keys.count == known.count && zip(keys, known).allSatisfy { $0.isSame(as: $1) }
      if isSame { return }
      let next = Keys(keys)
      all.append(next)
      unsafe last.store(Unmanaged.passUnretained(next), ordering: .releasing)
    }

    static func checked(_ keys: [Key]) throws(Failure) -> [Key] {
      var ids: Set<UInt32> = []
      for key in keys where !ids.insert(key.id).inserted { throw .duplicate(id: key.id) }
      return keys
    }
  }

  extension KeyRing: CustomStringConvertible, CustomReflectable {
    /// The ids, without the keys.
    public var description: String { "KeyRing(current: \(currentID), ids: \(ids))" }
    /// Nothing: no key gets into a log this way.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
  }
#endif
