import ArgumentParser
import Esker

/// Keys that somebody may be about to type.
struct KeyCandidates {
  let keys: [String]
  /// Whether there may be others: without an order keys are looked for as long as somebody waits for an answer.
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
    var number = 0
    /// Whether to go on.
    func take(_ entry: borrowing Snapshot.Entry) -> Bool {
      if number & 255 == 0, ContinuousClock.now >= end || Interruption.isRequested {
        isPartial = true
        return false
      }
      number += 1
      guard entry.keyspace == keyspace, let key = try? entry.key() else { return true }
      guard let text = form.text(of: key) ?? String(validating: key, as: UTF8.self), text.hasPrefix(typed) else {
        return true
      }
      // What cannot be typed is not offered.
      guard !text.isEmpty, !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
        return true
      }
      found.append(text)
      if found.count == Self.most { isPartial = true }
      return found.count < Self.most
    }
    if store.hasOrder([keyspace]), let space = try? store.keyspace(keyspace) {
      // The text of keys of another form begins otherwise than their bytes.
      for entry in snapshot.entries(in: space, form.isTranslated ? .all : .prefix(typed)) where !take(entry) { break }
    } else {
      snapshot.forEachEntry(in: keyspace, take)
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
