/// The names in one directory of a simulated disk.
struct SimulatedDirectory: Sendable {
  /// The number of a file or directory.
  typealias NodeID = Int

  /// The names that programs see.
  var entries: [String: NodeID] = [:]
  /// The names certain to survive a power failure.
  var durable: [String: NodeID] = [:]
}

/// A change to names that no directory sync has made durable yet.
struct DirectoryChange: Sendable {
  typealias NodeID = SimulatedDirectory.NodeID

  enum Kind: Sendable {
    case add(directory: NodeID, name: String, node: NodeID)
    case remove(directory: NodeID, name: String, node: NodeID)
    case rename(node: NodeID, from: NodeID, name: String, to: NodeID, newName: String)
  }

  var kind: Kind

  func concerns(_ directories: Set<NodeID>) -> Bool {
    switch kind {
    case .add(let directory, _, _), .remove(let directory, _, _): directories.contains(directory)
    case .rename(_, let source, _, let target, _): directories.contains(source) || directories.contains(target)
    }
  }

  /// The directory outside `directories` that this change connects to one inside.
  func otherEnd(of directories: Set<NodeID>) -> NodeID? {
    guard case .rename(_, let source, _, let target, _) = kind else { return nil }
    if directories.contains(source) == directories.contains(target) { return nil }
    return directories.contains(source) ? target : source
  }

  /// Applies the change to the durable names.
  ///
  /// Earlier changes may have been lost: a name that now refers to something else is left alone.
  func apply(to directories: inout [NodeID: SimulatedDirectory]) {
    switch kind {
    case .add(let directory, let name, let node):
      directories[directory]?.durable[name] = node
    case .remove(let directory, let name, let node):
      if directories[directory]?.durable[name] == node { directories[directory]?.durable[name] = nil }
    case .rename(let node, let source, let name, let target, let newName):
      if directories[source]?.durable[name] == node { directories[source]?.durable[name] = nil }
      directories[target]?.durable[newName] = node
    }
  }
}
