import Esker

/// The forms of keys and values of a store's keyspaces, as a command shows them.
struct EntryForms {
  /// Those of one keyspace, with the names that it records.
  struct Pair {
    var keys = StoredForm.raw
    var keyName: String?
    var values = StoredForm.raw
    var valueName: String?
    /// Whether values are shown as "put" takes them back; see ``CBORText/Mark``.
    private var isMarked = false

    init() {}

    /// A value as text of its form; nil if it is not of it.
    func text(of value: [UInt8]) -> String? { values.text(of: value, isMarked: isMarked) }

    /// The text of a value, or its bytes if it is not of its form.
    func printed(_ value: [UInt8]) -> [UInt8] { text(of: value).map { Array($0.utf8) } ?? value }

    /// The names, if both are recorded.
    var recorded: LoadTarget.Forms? {
      guard let keyName, let valueName else { return nil }
      return LoadTarget.Forms(keys: keyName, values: valueName)
    }

    init(_ keyspace: Keyspace, _ decoding: Decoding) {
      keys = keyspace.shownKeys
      keyName = keyspace.keyForm
      values = decoding.form(keyspace.shownValues)
      valueName = decoding.name(keyspace.valueForm)
      isMarked = decoding == .marked
    }
  }

  private let store: LogStore
  private let decoding: Decoding
  private var known: [String: Pair] = [:]
  /// The keyspace asked for last, as most entries are of the one of the entry before.
  private var last: (keyspace: String, pair: Pair)?

  init(of store: LogStore, _ decoding: Decoding) {
    self.store = store
    self.decoding = decoding
  }

  /// The forms of a keyspace; raw for one that has just been removed.
  subscript(keyspace: String) -> Pair {
    mutating get {
      if let last, last.keyspace == keyspace { return last.pair }
      let pair = found(keyspace)
      last = (keyspace, pair)
      return pair
    }
  }

  private mutating func found(_ keyspace: String) -> Pair {
    if let pair = known[keyspace] { return pair }
    let found = try? store.keyspace(keyspace)
    let pair = found.map { Pair($0, decoding) } ?? Pair()
    known[keyspace] = pair
    return pair
  }

  /// Looks the forms of a keyspace up again when they are next asked for.
  mutating func forget(_ keyspace: String) {
    known[keyspace] = nil
    last = nil
  }

  /// Whether one of these keyspaces records a form.
  mutating func isRecorded(in keyspaces: [String]) -> Bool {
    keyspaces.contains { self[$0].keyName != nil || self[$0].valueName != nil }
  }
}

extension StoredForm {
  /// Whether bytes of this form are shown as something else than themselves.
  var isTranslated: Bool { self != .raw && self != .text }
}
