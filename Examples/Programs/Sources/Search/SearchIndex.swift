import Esker

/// Finds texts by their words. The index is kept by the change feed: whoever writes a text knows nothing of it, and what was written while
/// nobody kept the index is taken in later.
struct SearchIndex {
  let store: LogStore
  let texts: Storage<String, String>
  /// A key for each word of each text.
  private let places: Storage<CompositeKey<String, String>, Bool>
  /// The words that the index has of each text.
  private let words: Storage<String, [String]>
  /// The number of the last change that is in the index.
  private let position: Storage<String, UInt64>

  init(_ store: LogStore) throws {
    self.store = store
    texts = try store.storage("texts")
    places = try store.storage("places")
    words = try store.storage("words")
    position = try store.storage("position")
  }

  /// Takes in what was written since the last call; how many changes that were.
  ///
  /// One batch writes what the index becomes and how far it has come, so after a crash it is as it was after some change. Index and texts are in one
  /// log, whose end is lost first: so the index may show changes that are not durable yet, and is never ahead of the texts.
  func update() throws -> Int {
    let since = try position.value(forKey: "texts").map(SequenceNumber.init(rawValue:)) ?? SequenceNumber(rawValue: 0)
    do {
      return try take(store.changes(since: since, includingUnsynced: true))
    } catch StoreError.historyGone {
      return try rebuild()
    }
  }

  private func take(_ changes: LogStore.Changes) throws -> Int {
    var count = 0
    while let change = try changes.poll() {
      guard change.keyspace == "texts" else { continue }
      count += 1
      let id = String(decoding: change.key, as: UTF8.self)
      switch change.kind {
      case .put(let value, _): try index(String(decoding: value, as: UTF8.self), of: id, as: change.sequence)
      case .remove: try index("", of: id, as: change.sequence)
      case .removeAll:
        for id in try words.keys() { try index("", of: id, as: change.sequence) }
      }
    }
    return count
  }

  /// The log goes back no further than its last merge: begin with what is there.
  private func rebuild() throws -> Int {
    let sequence = store.lastSequence
    for id in try words.keys() where try !texts.contains(id) { try index("", of: id, as: sequence) }
    let entries = try texts.entries()
    for (id, entry) in entries { try index(entry.value, of: id, as: sequence) }
    return entries.count
  }

  private func index(_ text: String, of id: String, as sequence: SequenceNumber) throws {
    let before = try Set(words.value(forKey: id) ?? [])
    let after = Set(Self.words(of: text))
    try store.write { batch in
      for word in before.subtracting(after) { try batch.removeValue(forKey: CompositeKey(word, id), in: places) }
      for word in after.subtracting(before) { try batch.set(true, forKey: CompositeKey(word, id), in: places) }
      if after.isEmpty {
        try batch.removeValue(forKey: id, in: words)
      } else {
        try batch.set(after.sorted(), forKey: id, in: words)
      }
      try batch.set(sequence.rawValue, forKey: "texts", in: position)
    }
  }

  static func words(of text: String) -> [String] {
    text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  /// The ids of the texts that have all words of `query`, in order.
  func search(_ query: String) throws -> [String] {
    var found: Set<String>?
    for word in Self.words(of: query) {
      let ids = try Set(places.keys(in: .prefix(word)).map(\.parts.1))
      found = found?.intersection(ids) ?? ids
    }
    return (found ?? []).sorted()
  }
}
