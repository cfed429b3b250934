import ArgumentParser

/// A command that works on a store which a shell has opened.
protocol StoreCommand: ParsableCommand {
  var store: StoreArguments { get set }
}

extension Put: StoreCommand {}
extension Get: StoreCommand {}
extension Edit: StoreCommand {}
extension Delete: StoreCommand {}
extension List: StoreCommand {}
extension Count: StoreCommand {}
extension Exists: StoreCommand {}
extension Increment: StoreCommand {}
extension TTL: StoreCommand {}
extension Touch: StoreCommand {}
extension Persist: StoreCommand {}
extension Load: StoreCommand {}
extension Dump: StoreCommand {}
extension Copy: StoreCommand {}
extension Clear: StoreCommand {}
extension Drop: StoreCommand {}
extension Keyspaces: StoreCommand {}
extension Stats: StoreCommand {}
extension Big: StoreCommand {}
extension Diff: StoreCommand {}
extension Watch: StoreCommand {}
extension Follow: StoreCommand {}
extension Inspect: StoreCommand {}
extension Map: StoreCommand {}
extension Verify: StoreCommand {}
extension Backup: StoreCommand {}
