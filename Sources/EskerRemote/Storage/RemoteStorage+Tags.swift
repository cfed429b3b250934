public import Esker

/// Values that are made invalid together, by a name that they have in common.
///
/// ```swift
/// try await users.tagged("team:7").async.set(anna, forKey: "anna")
/// try await tiers.invalidate(tag: "team:7")
/// let user = try await users.async.value(forKey: "anna")  // nil
/// ```
extension RemoteStorage {
  /// The same storage, which gives what is written by it these tags, besides those that it gives already.
  ///
  /// A value has the versions that its tags had **before it began to be made**: what ``/Esker/AsyncStorage`` stores for a producer or an
  /// `update` is invalid from the beginning if a tag is invalidated while they run. Of other writes that is the beginning of the
  /// call; see ``startingNow()`` for values that take their time. A write that replaces a value on the condition that it is still
  /// there keeps that value's tags, and a new expiry does too; other writes do not.
  ///
  /// What has tags is found absent once one of them was invalidated, by conditions of writes too; only `removeValue` and `touch` may
  /// still find it there. Reads do not depend on the tags of the storage that they are made with, except that tasks which ask for one
  /// missing value with different tags do not wait for each other's producers.
  ///
  /// - Parameter tags: names of 1 to 255 bytes, which mean the same to all storages of the tiers, and do not begin with `*`.
  /// - Throws: ``/Esker/StorageError/unsupported(operation:view:)`` for a name that cannot be a tag's, and for more than 254 tags.
  public func tagged(_ tags: String...) throws(StorageError) -> RemoteStorage { try tagged(tags) }

  /// The same storage, which gives what is written by it these tags; see ``tagged(_:)-(String...)``.
  public func tagged(_ names: [String]) throws(StorageError) -> RemoteStorage {
    var known = Set(tags.map { Array($0.utf8) })
    let new = try RemoteTags.checked(names, name).filter { known.insert(Array($0.utf8)).inserted }
    guard tags.count + new.count <= RemoteTag.countLimit else {
      throw .unsupported(operation: "have so many tags", view: name)
    }
    return RemoteStorage(view, tags + new, began: scope?.began ?? 0)
  }

  /// The same storage for values that begin to be made now: what is written by it is invalid if one of its tags is invalidated from now
  /// on, before the write or after it. For one value, or some that are made together.
  ///
  /// Reads the tags that are not known yet, and makes those that there are not.
  ///
  /// - Throws: ``/Esker/StorageError/back(name:underlying:)`` with a ``RemoteError``; ``/Esker/StorageError/cancelled``.
  public nonisolated(nonsending) func startingNow() async throws(StorageError) -> RemoteStorage {
    _ = try await view.tags?.current(tags)
    return RemoteStorage(view, tags, began: StorageRequest.nextMoment())
  }

  /// Makes everything invalid that has a tag, in all storages of the tiers; see ``RemoteTiers/invalidate(tag:)``.
  public nonisolated(nonsending) func invalidate(tag: String) async throws(StorageError) {
    try await view.tiers.invalidate(tag: tag)
  }

  /// Makes everything invalid that was written by storages of this name with ``RemoteOptions/isClearable``, by this process or others:
  /// one write, however much it is. What was written without stays.
  ///
  /// - Throws: As ``RemoteTiers/invalidate(tag:)``; ``/Esker/StorageError/unsupported(operation:view:)`` if this one is not clearable.
  public nonisolated(nonsending) func clear() async throws(StorageError) {
    guard view.options.isClearable, let tags = view.tags else {
      throw .unsupported(operation: "be cleared", view: name)
    }
    try await tags.invalidate(RemoteTags.all(of: name))
  }
}

extension RemoteTiers {
  /// Makes everything invalid that has a tag, in all storages of these tiers and of other processes with the same prefix.
  ///
  /// One write of one key, however much that is. Once it has returned, nothing that has the tag is found any more by this process, and
  /// by others as soon as they are told; nor is what was being made meanwhile. It stays where it is until it is overwritten, expires or
  /// is evicted.
  ///
  /// - Throws: ``/Esker/StorageError/back(name:underlying:)`` with a ``RemoteError``; after ``RemoteError/unknownOutcome`` it may have
  ///   been done, or may still be, and is to be tried again. ``/Esker/StorageError/unsupported(operation:view:)`` for a name that cannot
  ///   be a tag's.
  public nonisolated(nonsending) func invalidate(tag: String) async throws(StorageError) {
    _ = try RemoteTags.checked([tag], name)
    try await tags.invalidate(tag)
  }
}
