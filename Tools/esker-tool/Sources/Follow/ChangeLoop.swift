import Esker
import Foundation

/// Shows the changes of a store as they are made, until it is interrupted.
struct ChangeLoop: ~Copyable {
  let store: LogStore
  /// The only keyspace whose changes are shown; nil: all.
  let keyspace: String?
  /// How many to show.
  let count: Int
  /// Whether to wait for more when all have been shown that there are.
  let waits: Bool
  var filter: EntryFilter
  var lines: ChangeLines
  var position: FollowPosition?
  private(set) var isIntact = true
  private var shown = 0
  private var last: SequenceNumber?

  /// How long the loop pauses when nothing was written: longer each time, so that a store at rest costs next to nothing.
  private static let pauses = (least: Duration.milliseconds(5), most: Duration.milliseconds(40))
  /// How many changes are delivered together at most.
  private static let changesTogether = 1000
  private static let lookInterval = Duration.seconds(1)

  init(
    _ store: LogStore,
    keyspace: String?,
    count: Int?,
    waits: Bool,
    _ filter: EntryFilter,
    _ lines: consuming ChangeLines,
    _ position: FollowPosition?
  ) {
    self.store = store
    self.keyspace = keyspace
    self.count = count ?? .max
    self.waits = waits
    self.filter = filter
    self.lines = lines
    self.position = position
  }

  /// - Throws: ``ToolError/historyMerged(from:oldest:)`` or ``ToolError/notWritten(from:last:)`` if the log has no such changes;
  ///   ``StoreError/otherStore(path:)`` if the store was replaced; ``ToolError/outputClosed``.
  ///
  /// - Parameter start: The last write not to show; nil to show those from now on. A position that was kept comes first.
  mutating func run(since start: SequenceNumber?) throws {
    let changes = store.changes(since: position?.sequence ?? start, includingUnsynced: true)
    var pause = Self.pauses.least
    var lookedAt = ContinuousClock.now
    var unwritten = 0
    while shown < count, !Interruption.isRequested {
      if let change = try next(of: changes) {
        try show(change)
        pause = Self.pauses.least
        unwritten += 1
        guard unwritten == Self.changesTogether else { continue }
        unwritten = 0
        try deliver()
        continue
      }
      unwritten = 0
      try deliver()
      // That the reader has gone is noticed without a line to write.
      guard !SystemCalls.isHungUp(STDOUT_FILENO) else { throw ToolError.outputClosed }
      if !waits { break }
      guard Interruption.sleep(pause) else { break }
      pause = min(pause * 2, Self.pauses.most)
      guard ContinuousClock.now - lookedAt >= Self.lookInterval else { continue }
      lookedAt = .now
      // Finds out whether another store has taken the place of this one.
      try store.refresh()
    }
    try deliver(isLast: true)
  }

  /// The next change; nil if there is none yet. What is damaged is reported and passed over.
  private mutating func next(of changes: LogStore.Changes) throws -> LogChange? {
    while true {
      do throws(StoreError) { return try changes.poll() } catch {
        switch error {
        case .damaged(let location, let reason):
          isIntact = false
          DamageReports.report(location, reason)
        case .historyGone(let since, let oldest) where since > oldest:
          throw ToolError.notWritten(from: since.rawValue + 1, last: oldest.rawValue)
        case .historyGone(let since, let oldest):
          throw ToolError.historyMerged(from: since.rawValue + 1, oldest: oldest.rawValue + 1)
        default: throw error
        }
      }
    }
  }

  private mutating func show(_ change: LogChange) throws {
    last = change.sequence
    guard keyspace == nil || keyspace == change.keyspace, filter.takes(change) else { return }
    try lines.add(change)
    shown += 1
  }

  /// Writes the lines so far, and then keeps the position, so that a kill in between repeats lines and loses none.
  private mutating func deliver(isLast: Bool = false) throws {
    try lines.flush()
    if let last { try position?.keep(last, isLast: isLast) }
  }
}
