import CEsker
import EskerLog

// What handles lead to.

extension LogStore: HandleObject {
  static var kind: esker_handle_kind { ESKER_HANDLE_STORE }
}

extension Snapshot: HandleObject {
  static var kind: esker_handle_kind { ESKER_HANDLE_SNAPSHOT }
}

/// A keyspace of an open store.
final class KeyspaceObject: HandleObject {
  static var kind: esker_handle_kind { ESKER_HANDLE_KEYSPACE }

  let keyspace: Keyspace

  init(_ keyspace: Keyspace) {
    self.keyspace = keyspace
  }
}
