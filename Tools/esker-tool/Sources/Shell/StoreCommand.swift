import ArgumentParser

/// A command that works on a store which a shell has opened.
protocol StoreCommand: ParsableCommand {
  var store: StoreArguments { get set }
}

/// A command that takes --keyspace.
protocol KeyspaceCommand: StoreCommand {
  var keyspace: KeyspaceOption { get }
  /// Whether it takes one as it is given.
  var takesKeyspace: Bool { get }
}

extension KeyspaceCommand {
  var takesKeyspace: Bool { true }
}

/// A command that takes --keyspace or --all-keyspaces.
protocol ScopeCommand: KeyspaceCommand {
  var scope: KeyspaceScope { get }
}

extension ScopeCommand {
  var keyspace: KeyspaceOption { scope.option }
  var takesKeyspace: Bool { !scope.allKeyspaces }
}

extension Put: KeyspaceCommand {}
extension Get: KeyspaceCommand {}
extension Edit: KeyspaceCommand {}
extension Delete: ScopeCommand {}
extension List: ScopeCommand {}
extension Count: ScopeCommand {}
extension Exists: KeyspaceCommand {}
extension Increment: KeyspaceCommand {}
extension TTL: KeyspaceCommand {}
extension Touch: KeyspaceCommand {}
extension Persist: KeyspaceCommand {}
extension Load: KeyspaceCommand {
  var takesKeyspace: Bool { format != .binary }
}
extension Dump: KeyspaceCommand {
  var takesKeyspace: Bool { written != .binary }
}
extension Copy: KeyspaceCommand {}
extension Clear: KeyspaceCommand {}
extension Drop: StoreCommand {}
extension Keyspaces: StoreCommand {}
extension Stats: StoreCommand {}
extension Big: KeyspaceCommand {}
extension Diff: StoreCommand {}
extension Watch: StoreCommand {}
extension Follow: KeyspaceCommand {}
extension Inspect: StoreCommand {}
extension Map: StoreCommand {}
extension Verify: StoreCommand {}
extension Backup: StoreCommand {}
