import ArgumentParser

/// A command that works on a store which a shell has opened.
protocol StoreCommand: ParsableCommand {
  var store: StoreArguments { get set }
}

/// A command that takes --keyspace.
protocol KeyspaceCommand: StoreCommand {
  var keyspace: KeyspaceOption { get }
}

extension Put: KeyspaceCommand {}
extension Get: KeyspaceCommand {}
extension Edit: KeyspaceCommand {}
extension Delete: KeyspaceCommand {}
extension List: KeyspaceCommand {}
extension Count: KeyspaceCommand {}
extension Exists: KeyspaceCommand {}
extension Increment: KeyspaceCommand {}
extension TTL: KeyspaceCommand {}
extension Touch: KeyspaceCommand {}
extension Persist: KeyspaceCommand {}
extension Load: KeyspaceCommand {}
extension Dump: KeyspaceCommand {}
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
