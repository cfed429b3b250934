#if SwiftLog
  public import Esker
  public import Logging

  extension ReadableStorage {
    /// The same storage with its calls logged: failed calls as errors, those that take `slow` or longer as warnings, all
    /// others at trace level. Metadata: `storage`, `call`, `found`, `duration`, `error`; never keys or values. Messages of
    /// your own errors may contain them, so only the type of such an error is logged.
    public func logging(to logger: Logger, slow: Duration? = nil) -> Tapped<Self> {
      tap { logger.log($0, slow) }
    }
  }

  extension WritableStorage {
    /// The same storage with its calls logged, for a storage that may be write-only.
    @_disfavoredOverload
    public func logging(to logger: Logger, slow: Duration? = nil) -> Tapped<Self> {
      tap { logger.log($0, slow) }
    }
  }

  extension Logger {
    fileprivate func log(_ call: StorageCall, _ slow: Duration?) {
      let isSlow = slow.map { call.duration >= $0 } ?? false
      let level: Level = call.error != nil ? .error : isSlow ? .warning : .trace
      guard level >= logLevel else { return }
      var metadata: Metadata = ["storage": "\(call.storage)", "duration": "\(call.duration)"]
      metadata["error"] = call.error.map { "\($0.textForLog)" }
      switch call.kind {
      case .read(let found):
        metadata["call"] = "read"
        metadata["found"] = "\(found)"
      case .missedMemory: metadata["call"] = "missedMemory"
      case .set: metadata["call"] = "set"
      case .remove(let found):
        metadata["call"] = "remove"
        metadata["found"] = "\(found)"
      case .update: metadata["call"] = "update"
      }
      log(
        level: level,
        call.error != nil ? "storage call failed" : isSlow ? "storage call was slow" : "storage call",
        metadata: metadata
      )
    }
  }
#endif
