import Esker

/// The keyspaces that records go to.
struct LoadTarget {
  let store: LogStore
  /// Where records go that name none.
  let usual: Keyspace

  private var named: [String: Keyspace] = [:]

  init(_ usual: Keyspace) {
    self.usual = usual
    store = usual.store
  }

  /// The keyspace of that name, created if it is not there; the usual one for none.
  mutating func keyspace(_ name: String?) throws(StoreError) -> Keyspace {
    guard let name, !name.isEmpty else { return usual }
    if let known = named[name] { return known }
    let keyspace = try store.keyspace(name)
    named[name] = keyspace
    return keyspace
  }
}
