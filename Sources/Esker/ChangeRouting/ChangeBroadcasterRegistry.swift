internal import EskerPlatform

/// Finds the broadcaster of a keyspace, so that views that were made separately share it.
enum ChangeBroadcasterRegistry {
  private struct Reference {
    weak var broadcaster: ChangeBroadcaster?
  }

  /// By the keyspace's core. A broadcaster keeps its core, so an identifier is not used again while a broadcaster has it.
  private static let broadcasters = Guarded<[ObjectIdentifier: Reference]>([:], .broadcasters)

  static func broadcaster(of keyspace: Keyspace) -> ChangeBroadcaster {
    let core = ObjectIdentifier(keyspace._core)
    // Released after the lock: the last reference to a broadcaster may be one that was taken here, and its end may close a store.
    var others: [ChangeBroadcaster] = []
    defer { withExtendedLifetime(others) {} }
    return broadcasters.withLock { broadcasters in
      if let broadcaster = broadcasters[core]?.broadcaster { return broadcaster }
      // Few, and made seldom: the moment to forget those that are gone.
      broadcasters = broadcasters.filter { reference in
        guard let other = reference.value.broadcaster else { return false }
        others.append(other)
        return true
      }
      let broadcaster = ChangeBroadcaster(keyspace: keyspace)
      broadcasters[core] = Reference(broadcaster: broadcaster)
      return broadcaster
    }
  }
}
