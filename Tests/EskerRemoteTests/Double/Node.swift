@testable import EskerRemote

/// What is under a key: a value or nothing, and the number of the write that made it so. No two writes have one number.
struct Stored: Equatable {
  var value: RemoteValue?
  var content: Int
}

enum Role { case primary, replica, down }

/// A server of the cluster.
struct Node {
  var role: Role
  var isStopped = false
  /// When it was stopped or cut off from the others.
  var lostAt: UInt64?
  /// The domains that it believes to serve.
  var domains: Set<Int>
  var data: [Int: Stored] = [:]
  /// The writes of each key, in order; what of them was replicated survives.
  var history: [Int: [Int]] = [:]
  /// How many event loops have ended.
  var loops = 0
  /// Keys written since the end of the last event loop, with the connection that wrote last; a script is nobody's.
  var pending: [Int: Int] = [:]

  func stored(_ key: Int) -> Stored { data[key] ?? Stored(value: nil, content: 0) }

  /// Where a write stands in the history of a key, at the first and the last time: one that is replayed twice may be applied twice, if
  /// another has removed the key in between.
  func positions(of content: Int, _ key: Int) -> (first: Int, last: Int)? {
    if content == 0 { return (-1, -1) }
    guard let history = history[key], let first = history.firstIndex(of: content) else { return nil }
    return (first, history.lastIndex(of: content) ?? first)
  }
}

/// What a client sends.
enum Request {
  case track, kill(Int)
  case heartbeat(Question, isPing: Bool)
  case get(Ticket), check(Ticket, RemoteVersion), write(Ticket, RemoteAction, content: Int)

  var isWrite: Bool {
    if case .write = self { return true }
    return false
  }
}

/// A question for a lease.
struct Question {
  let sent: UInt64
  /// The newest question whose answer had come when this was sent: when it was sent, and in which event loop it was answered.
  let former: Former?

  struct Former {
    let sent: UInt64
    let loop: Int
  }
}

/// What a client is told.
enum Message {
  case changed([Int])
  /// Everything was replaced.
  case flushed
  case heartbeat(Question, loop: Int, domains: Set<Int>?)
  case value(Ticket, Stored)
  case same(Ticket)
  case written(Ticket, WriteOutcome, isScript: Bool)
  case moved(Ticket, Request), refused(Ticket)
}

/// A connection, as both ends see it. Both directions keep their order.
struct Connection {
  let id: Int
  let node: Int
  let client: Int
  var isTracking = false
  /// What was sent and not executed, with the generation at sending.
  var out: [Request] = []
  var messages: [Message] = []
  var index: UInt64 = 0
  var leaseEnd: UInt64 = 0
  /// Whether the lease was over, so that the others have to be asked first.
  var mustAsk = false
  var heartbeatsUnderWay = 0
  /// The newest question that was answered.
  var answered: Question.Former?
}

/// A request on its way; what the reply is given to.
final class Ticket {
  let key: Int
  let write: RemoteWriteID?
  var generation: UInt32 = 0
  var connection = -1
  var read: RemoteCompletion<RemoteValue?>?
  var checked: RemoteCompletion<RemoteChecked>?
  var written: (@Sendable (Result<Stamped<WriteOutcome>, RemoteError>) -> Void)?
  /// Whether its caller was told that nothing is known.
  var isGivenUp = false

  init(key: Int, write: RemoteWriteID? = nil) {
    self.key = key
    self.write = write
  }
}

// MARK: Traces

extension Stored: CustomStringConvertible {
  var description: String { value == nil ? "nothing (\(content))" : "\(content)" }
}

extension Request: CustomStringConvertible {
  var description: String {
    switch self {
    case .track: "TRACKING"
    case .kill(let id): "KILL \(id)"
    case .heartbeat(let question, _): "the question of \(question.sent / 1_000_000)"
    case .get(let ticket): "GET \(ticket.key)"
    case .check(let ticket, let version): "CHECK \(ticket.key) \(version)"
    case .write(let ticket, let action, let content):
      switch action {
      case .set(_, let condition): "SET \(ticket.key) \(content) if \(condition)"
      default: "DEL \(ticket.key) \(content)"
      }
    }
  }
}

extension Message: CustomStringConvertible {
  var description: String {
    switch self {
    case .changed(let keys): "\(keys) changed"
    case .flushed: "all has changed"
    case .heartbeat(let question, _, let domains):
      "the answer of \(question.sent / 1_000_000): \((domains ?? []).sorted())"
    case .value(let ticket, let stored): "\(ticket.key) is \(stored)"
    case .same(let ticket): "\(ticket.key) is the same"
    case .written(let ticket, let outcome, _): "\(ticket.key) is written: \(outcome.isDone)"
    case .moved(let ticket, _): "\(ticket.key) has moved"
    case .refused(let ticket): "\(ticket.key) is refused"
    }
  }
}
