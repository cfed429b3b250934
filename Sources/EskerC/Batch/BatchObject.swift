import CEsker
import EskerLog

/// A batch of C.
final class BatchObject: HandleObject {
  static var kind: esker_handle_kind { ESKER_HANDLE_BATCH }

  let store: LogStore
  let contents: Exclusive<WriteBatch>

  init(_ store: LogStore) {
    self.store = store
    contents = Exclusive(store.makeBatch())
  }
}
