/// Why a remote store did not do what it was asked.
///
/// Only ``unknownOutcome`` leaves open whether a write takes effect; after every other error it has not, and never will.
public enum RemoteError: Error, Hashable, Sendable {
  /// The write was sent, and whether it was or will be executed is not known. ``RemoteSink/settled(_:_:)`` follows.
  case unknownOutcome
  /// Not executed, for a passing reason that the text gives. May be tried again.
  case notExecuted(String)
  /// The domain has no lease, the server cannot be reached, or too much waits already. Nothing was executed. `until` is when it may be
  /// worth while to try again, if that is known.
  case unavailable(until: RemoteInstant?)
  /// The deadline passed before a write was sent, or before a read was answered.
  case timedOut
  /// The server's answer is an error: its code, such as `WRONGTYPE`, and its text. Nothing was executed.
  case refused(code: String, message: String)
  /// A value or reply of `size` bytes is over the limit.
  case tooLarge(size: Int, limit: Int)
  /// This store has no such operation.
  case unsupported(String)
  /// The store has not been started, or it was stopped.
  case stopped

  /// Whether the same may succeed a moment later without anyone doing something about it.
  public var isPassing: Bool {
    switch self {
    case .unknownOutcome, .notExecuted, .unavailable, .timedOut: true
    case .refused, .tooLarge, .unsupported, .stopped: false
    }
  }
}
