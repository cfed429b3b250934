import Esker
import Testing

/// What a storage holds after `changes`, each of which must take up where the one before it left off.
///
/// - Parameter mayLose: whether entries may expire or be evicted.
func replayed<Key, Value: Equatable>(
  _ changes: [StorageChange<Key, Value>],
  mayLose: Bool = false,
  sourceLocation: SourceLocation = #_sourceLocation
) -> [Key: Value] {
  var state: [Key: Value] = [:]
  for change in changes {
    switch change {
    case .set(let key, let before, let after):
      #expect(state.updateValue(after, forKey: key) == before, sourceLocation: sourceLocation)
    case .removed(let key, let before):
      #expect(state.removeValue(forKey: key) == before, sourceLocation: sourceLocation)
    case .expired(let key, let before), .evicted(let key, let before):
      #expect(mayLose && state.removeValue(forKey: key) == before, sourceLocation: sourceLocation)
    case .removedAll: state = [:]
    case .missed, .unreadable, .closed: Issue.record("\(change)", sourceLocation: sourceLocation)
    }
  }
  return state
}
