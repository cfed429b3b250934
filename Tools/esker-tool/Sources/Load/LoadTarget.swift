import Esker

/// The keyspaces that records are loaded into.
struct LoadTarget {
  let store: LogStore
  /// The keyspace for records that name none.
  let usual: Keyspace

  private var named: [String: Keyspace] = [:]

  init(_ usual: Keyspace) {
    self.usual = usual
    store = usual.store
  }

  /// The keyspace with this name, created if necessary; the usual one for nil or an empty name.
  mutating func keyspace(_ name: String?) throws(StoreError) -> Keyspace {
    guard let name, !name.isEmpty else { return usual }
    if let known = named[name] { return known }
    let keyspace = try store.keyspace(name)
    named[name] = keyspace
    return keyspace
  }
}
