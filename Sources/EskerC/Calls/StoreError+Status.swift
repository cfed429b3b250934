import CEsker
import EskerLog

extension StoreError {
  /// The status of esker.h that stands for this error.
  var status: esker_status {
    switch self {
    case .closed: ESKER_ERROR_CLOSED
    case .readOnly: ESKER_ERROR_READ_ONLY
    case .suspended: ESKER_ERROR_SUSPENDED
    case .cancelled: ESKER_ERROR_CANCELLED
    case .locked: ESKER_ERROR_LOCKED
    case .notAStore: ESKER_ERROR_NOT_A_STORE
    case .directoryNotEmpty: ESKER_ERROR_DIRECTORY_NOT_EMPTY
    case .unfinishedCopy: ESKER_ERROR_UNFINISHED_COPY
    case .otherStore: ESKER_ERROR_OTHER_STORE
    case .unknownFormat: ESKER_ERROR_UNKNOWN_FORMAT
    case .damaged: ESKER_ERROR_DAMAGED
    case .noSpace: ESKER_ERROR_NO_SPACE
    case .capacityReached: ESKER_ERROR_CAPACITY_REACHED
    case .keyspaceFull: ESKER_ERROR_KEYSPACE_FULL
    case .accessDenied: ESKER_ERROR_ACCESS_DENIED
    case .failed: ESKER_ERROR_SYSTEM
    case .syncFailed: ESKER_ERROR_SYNC_FAILED
    case .outcomeUnknown: ESKER_ERROR_OUTCOME_UNKNOWN
    case .keyTooLong: ESKER_ERROR_KEY_TOO_LONG
    case .valueTooLong: ESKER_ERROR_VALUE_TOO_LONG
    case .batchTooLarge: ESKER_ERROR_BATCH_TOO_LARGE
    case .conflict: ESKER_CONFLICT
    case .historyGone: ESKER_ERROR_HISTORY_GONE
    case .invalidKeyspace: ESKER_ERROR_INVALID_KEYSPACE
    case .keyspaceRemoved: ESKER_ERROR_KEYSPACE_REMOVED
    case .noSuchKeyspace: ESKER_ERROR_NO_SUCH_KEYSPACE
    }
  }

  /// The C error number, where the operating system was the cause; otherwise 0.
  var errorNumber: Int32 {
    switch self {
    case .accessDenied(_, let number), .failed(_, _, let number), .syncFailed(let number), .outcomeUnknown(let number):
      number
    default: 0
    }
  }
}
