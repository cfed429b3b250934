internal import EskerPlatform

/// Finds the hub of a keyspace, so that views that were made separately share it.
enum HubRegistry {
  private struct Reference {
    weak var hub: ChangeHub?
  }

  /// By the keyspace's core. A hub keeps its core, so an identifier is not used again while a hub has it.
  private static let hubs = Guarded<[ObjectIdentifier: Reference]>([:], .hubs)

  static func hub(of keyspace: Keyspace) -> ChangeHub {
    let core = ObjectIdentifier(keyspace._core)
    // Released after the lock: the last reference to a hub may be one that was taken here, and its end may close a store.
    var others: [ChangeHub] = []
    defer { withExtendedLifetime(others) {} }
    return hubs.withLock { hubs in
      if let hub = hubs[core]?.hub { return hub }
      // Few, and made seldom: the moment to forget those that are gone.
      hubs = hubs.filter { reference in
        guard let other = reference.value.hub else { return false }
        others.append(other)
        return true
      }
      let hub = ChangeHub(keyspace: keyspace)
      hubs[core] = Reference(hub: hub)
      return hub
    }
  }
}
