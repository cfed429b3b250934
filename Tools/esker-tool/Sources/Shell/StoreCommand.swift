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
