import CEsker
import EskerLog

/// Why a call from C failed, besides what the engine throws.
enum CallFailure: Error {
  /// What the caller passed cannot be; the text says what.
  case invalid(String)
  /// A handle that is none, or was closed.
  case handle(esker_handle_kind)
  /// There is no memory for a result or a handle.
  case noMemory
}

extension CallFailure {
  var status: esker_status {
    switch self {
    case .invalid: ESKER_ERROR_INVALID_ARGUMENT
    case .handle: ESKER_ERROR_INVALID_HANDLE
    case .noMemory: ESKER_ERROR_NO_MEMORY
    }
  }

  var message: String {
    switch self {
    case .invalid(let text): text
    case .handle(let kind): "what was passed as \(kind.name) was closed already, or never was one"
    case .noMemory: "there is no memory, or too many handles are open"
    }
  }
}

extension esker_handle_kind {
  /// What a handle of this kind is called, for messages.
  fileprivate var name: String {
    switch self {
    case ESKER_HANDLE_STORE: "a store"
    case ESKER_HANDLE_KEYSPACE: "a keyspace"
    case ESKER_HANDLE_BATCH: "a batch"
    case ESKER_HANDLE_SNAPSHOT: "a snapshot"
    case ESKER_HANDLE_CHANGES: "a change feed"
    default: "a cursor"
    }
  }
}
