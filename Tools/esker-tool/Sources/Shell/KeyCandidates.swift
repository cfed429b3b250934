import ArgumentParser
import Esker

/// Keys that somebody may be about to type.
struct KeyCandidates {
  let keys: [String]
  /// Whether there may be others: keys have no order, and are looked for as long as somebody waits for an answer.
  let isPartial: Bool

  private static let patience = Duration.milliseconds(300)
  private static let most = 100

  /// The keys of a keyspace that begin with what was typed, as they are given on the command line, in their order.
  init(beginningWith typed: String, in keyspace: String, of store: LogStore) {
    var forms = EntryForms(of: store, .auto)
    let form = forms[keyspace].keys
    let end = ContinuousClock.now + Self.patience
    var found: [String] = []
    var isPartial = false
    guard let snapshot = try? store.snapshot() else {
      self.init(keys: [], isPartial: false)
      return
    }
    for (number, entry) in snapshot.enumerated() {
      if number & 255 == 0, ContinuousClock.now >= end || Interruption.isRequested {
        isPartial = true
        break
      }
      guard entry.keyspace == keyspace, let key = try? entry.key() else { continue }
      guard let text = form.text(of: key) ?? String(validating: key, as: UTF8.self), text.hasPrefix(typed) else {
        continue
      }
      // What cannot be typed is not offered.
      guard !text.isEmpty, !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
        continue
      }
      found.append(text)
      guard found.count < Self.most else {
        isPartial = true
        break
      }
    }
    self.init(keys: found.sorted(), isPartial: isPartial)
  }

  private init(keys: [String], isPartial: Bool) {
    (self.keys, self.isPartial) = (keys, isPartial)
  }

  /// The keyspace that a command line names; nil if it names none.
  static func keyspace(namedIn words: some Collection<String>) -> String? {
    let words = Array(words)
    if let place = words.lastIndex(where: { $0 == "--keyspace" || $0 == "-k" }), place + 1 < words.count {
      return words[place + 1]
    }
    return words.last { $0.hasPrefix("--keyspace=") }.map { String($0.dropFirst("--keyspace=".count)) }
  }
}

extension CompletionKind {
  /// The keys of the store that the command line names.
  static let keys = CompletionKind.custom { words, _, typed in
    guard let path = KeyspaceCompletion.store(namedIn: words) else { return [] }
    var options = Options()
    options.readOnly = true
    guard let store = try? LogStore(at: path, options: options) else { return [] }
    let keyspace = KeyCandidates.keyspace(namedIn: words) ?? ""
    let keys = KeyCandidates(beginningWith: typed, in: keyspace, of: store).keys
    try? store.close()
    return keys.map { KeyspaceCompletion.quoted($0) }
  }
}
