#if SwiftLog
  public import Esker
  public import Logging

  extension StorageProtocol {
    /// The same storage with its calls logged: failed calls as errors, those that take `slow` or longer as warnings, all
    /// others at trace level. Metadata: `storage`, `call`, `found` or `done`, `duration`, `error`; never keys or values.
    /// Messages of your own errors may contain them, so only the type of such an error is logged.
    public func logging(to logger: Logger, slow: Duration? = nil) -> Composed<Self, StorageStep.Tap<Key, Value>> {
      tap { logger.log($0, slow) }
    }
  }

  extension Logger {
    fileprivate func log(_ call: StorageRequest.Record, _ slow: Duration?) {
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
      case .set(let isDone):
        metadata["call"] = "set"
        metadata["done"] = "\(isDone)"
      case .touch(let isDone):
        metadata["call"] = "touch"
        metadata["done"] = "\(isDone)"
      case .remove(let found):
        metadata["call"] = "remove"
        metadata["found"] = "\(found)"
      }
      log(
        level: level,
        call.error != nil ? "storage call failed" : isSlow ? "storage call was slow" : "storage call",
        metadata: metadata
      )
    }
  }
#endif
