internal import EskerPlatform

/// Finds the hub of a keyspace, so that views made apart hear of each other.
enum HubRegistry {
  private struct Reference {
    weak var hub: ChangeHub?
  }

  /// By the keyspace's core. A hub keeps its core, so an identifier is not used again while a hub has it.
  private static let hubs = Guarded<[ObjectIdentifier: Reference]>([:], .hubs)

  static func hub(of keyspace: Keyspace) -> ChangeHub {
    let core = ObjectIdentifier(keyspace.core)
    return hubs.withLock { hubs in
      if let hub = hubs[core]?.hub { return hub }
      // Few, and made seldom: the moment to forget those that are gone.
      hubs = hubs.filter { $0.value.hub != nil }
      let hub = ChangeHub(keyspace: keyspace)
      hubs[core] = Reference(hub: hub)
      return hub
    }
  }
}
