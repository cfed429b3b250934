/// The writes of a store in sequence order, as a model that can say what any prefix of them amounts to.
struct CrashHistory {
  /// One change to one key, or to a whole keyspace.
  enum Change {
    case put(keyspace: String, key: String, value: [UInt8], expiry: Int64)
    case remove(keyspace: String, key: String)
    case reset(keyspace: String)
  }

  /// Changes that one call made together.
  struct Commit {
    var changes: [Change]
    /// The number of its last record.
    var sequence: UInt64
    /// The number of its first.
    var first: UInt64 { sequence - UInt64(changes.count - 1) }
  }

  struct Entry: Equatable {
    var value: [UInt8]
    var expiry: Int64
  }

  typealias State = [String: [String: Entry]]

  static let keyspaces = ["", "one", "two"]
  static let keys = (0..<12).map { "key \($0)" }

  private(set) var commits: [Commit] = []
  /// What all commits amount to.
  private(set) var present: State = [:]
  /// How many of them no crash takes back, and what those amount to: a history may have tens of thousands.
  private var settled: (count: Int, state: State) = (0, [:])
  /// A call under way, which a crash may keep or not, and its last number.
  var pending: Commit?
  /// Every write up to here survives a power failure.
  var durable: UInt64 = 0
  /// Every write up to here survives the end of the process.
  var returned: UInt64 = 0

  var last: UInt64 { commits.last?.sequence ?? 0 }

  /// The call under way has returned and wrote up to `sequence`; nothing when that is no news.
  mutating func settle(_ sequence: UInt64, isDurable: Bool = false) {
    if let commit = pending.take(), sequence > last {
      commits.append(Commit(changes: commit.changes, sequence: sequence))
      Self.apply(commit.changes, to: &present)
    }
    returned = last
    if isDurable {
      durable = last
      settled = (commits.count, present)
    }
  }

  /// Ends history where a crash ended it: with the record `sequence`, or the last whole call before.
  mutating func truncate(to sequence: UInt64) {
    if let commit = pending.take() { commits.append(commit) }
    while let commit = commits.last, commit.sequence > sequence { commits.removeLast() }
    returned = last
    if commits.count < settled.count { settled = (0, [:]) }
    present = settled.state
    for commit in commits[settled.count...] { Self.apply(commit.changes, to: &present) }
  }

  /// Whether no call is cut in two by history that ends at `sequence`, which may be a number that a crash had skipped.
  func isWhole(to sequence: UInt64) -> Bool {
    if let pending, pending.first <= sequence { return pending.sequence <= sequence }
    return commits.last { $0.first <= sequence }.map { $0.sequence <= sequence } ?? true
  }

  /// The numbers of the calls that changed a key, for messages.
  func writes(to key: String, in keyspace: String) -> [UInt64] {
    commits.filter { commit in
      commit.changes.contains { change in
        switch change {
        case .put(keyspace, key, _, _), .remove(keyspace, key), .reset(keyspace): true
        default: false
        }
      }
    }.map(\.sequence)
  }

  private static func apply(_ changes: [Change], to state: inout State) {
    for change in changes {
      switch change {
      case .put(let keyspace, let key, let value, let expiry):
        state[keyspace, default: [:]][key] = Entry(value: value, expiry: expiry)
      case .remove(let keyspace, let key):
        state[keyspace]?[key] = nil
      case .reset(let keyspace):
        state[keyspace] = [:]
      }
    }
  }
}
