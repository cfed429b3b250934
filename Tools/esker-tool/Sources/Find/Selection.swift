import ArgumentParser
import Esker

/// Which entries a command looks for.
struct EntryChoice: ParsableArguments {
  @Option(help: "Only keys that begin with this text, as they are printed.")
  var prefix = ""

  @Option(
    help: ArgumentHelp(
      "Only keys that look like this: * any text, ? a character, [a-z] one of some.",
      valueName: "glob"
    )
  )
  var match: Glob?

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Only values where this holds, as in 'city = Wien': =, !=, <, <=, >, >=, or ~ for contains. May be repeated.",
      valueName: "path OP value"
    )
  )
  var conditions: [Condition] = []

  @Flag(help: "Let --prefix, --match and --where take no difference between upper and lower case.")
  var ignoreCase = false

  /// Whether entries have to be looked at.
  var isChoosy: Bool { looksAtKeys || !conditions.isEmpty }

  fileprivate var looksAtKeys: Bool { !prefix.isEmpty || match != nil }
}

/// Which entries a command takes.
struct Selection: ParsableArguments {
  @OptionGroup var choice: EntryChoice

  @Option(help: ArgumentHelp("Only this key and those behind it in order.", valueName: "key"))
  var from: String?

  @Option(help: ArgumentHelp("Only keys in front of this one in order.", valueName: "key"))
  var to: String?

  @Option(
    help: ArgumentHelp("Only values that expire within this time from now, \(TimeToLive.help).", valueName: "duration")
  )
  var expiringWithin: TimeToLive?

  @Option(
    name: [.customShort("n"), .long],
    parsing: .unconditional,
    help: ArgumentHelp("Stop after this many.", valueName: "count")
  )
  var limit: Int?

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit takes a number of at least 0, and \(limit) is less.") }
  }

  /// Whether entries have to be looked at.
  var isChoosy: Bool { choice.isChoosy || hasEnds || expiringWithin != nil }

  fileprivate var hasEnds: Bool { from != nil || to != nil }

  /// Whether it takes every entry.
  var isEverything: Bool { limit == nil && !isChoosy }

  /// The keys that --from and --to take of each keyspace, which may have keys of a form of its own; nil: all.
  fileprivate func ranges(
    in keyspaces: [String],
    _ forms: inout EntryForms,
    _ encoding: ByteEncoding?
  ) throws(ToolError) -> [String: KeyRange]? {
    guard hasEnds else { return nil }
    var ranges: [String: KeyRange] = [:]
    for keyspace in keyspaces {
      let form = forms[keyspace]
      func bytes(_ key: String) throws(ToolError) -> [UInt8] {
        try KeyEncodingOption.given(key, encoding).bytes(in: form.keys, named: form.keyName)
      }
      var range = KeyRange.all
      if let from { range = range.from(try bytes(from)) }
      if let to { range = range.upTo(try bytes(to)) }
      ranges[keyspace] = range
    }
    return ranges
  }
}

/// Decides for each entry whether it is taken.
struct EntryFilter {
  /// Copies of the options: reading one of those takes as long as reading an entry.
  private let prefix: [UInt8]
  private let ranges: [String: KeyRange]?
  private let match: Glob?
  private let conditions: [Condition]
  private let ignoresCase: Bool
  private let isChoosy: Bool
  private let looksAtKeys: Bool
  /// The last instant of expiry that is taken, in milliseconds since 1970; nil: all, and none.
  private let lastExpiry: Double?
  let limit: Int
  /// How keys are printed; nil: as what the keyspace records.
  private let keyEncoding: ByteEncoding?
  private var forms: EntryForms
  private var text = JSONWriter()

  /// - Parameters:
  ///   - keyspaces: Those whose entries come.
  ///   - most: The limit, if none is given.
  init(
    _ selection: Selection,
    _ keyEncoding: ByteEncoding?,
    _ forms: EntryForms,
    in keyspaces: [String],
    most: Int = .max
  ) throws(ToolError) {
    let now = Double(Options.Clock.system.now().millisecondsSince1970)
    let last = selection.expiringWithin.map { now + $0.duration.seconds * 1000 }
    var forms = forms
    let ranges = try selection.ranges(in: keyspaces, &forms, keyEncoding)
    self.init(selection.choice, limit: selection.limit ?? most, lastExpiry: last, ranges: ranges, keyEncoding, forms)
  }

  init(
    _ choice: EntryChoice,
    limit: Int = .max,
    lastExpiry: Double? = nil,
    ranges: [String: KeyRange]? = nil,
    _ keyEncoding: ByteEncoding?,
    _ forms: EntryForms
  ) {
    ignoresCase = choice.ignoreCase
    match = ignoresCase ? choice.match?.ignoringCase : choice.match
    conditions = ignoresCase ? choice.conditions.map(\.ignoringCase) : choice.conditions
    isChoosy = choice.isChoosy || ranges != nil || lastExpiry != nil
    self.lastExpiry = lastExpiry
    self.ranges = ranges
    looksAtKeys = choice.looksAtKeys
    self.limit = limit
    self.keyEncoding = keyEncoding
    self.forms = forms
    prefix = Array((ignoresCase ? choice.prefix.lowercased() : choice.prefix).utf8)
  }

  /// Whether the keys that are taken lie next to each other in order.
  var hasRange: Bool { ranges != nil || prefixIsOfBytes }

  /// Whether keys are printed as their bytes, so that the prefix is one of them.
  private var prefixIsOfBytes: Bool { !prefix.isEmpty && !ignoresCase && (keyEncoding ?? .text) == .text }

  /// The keys of a keyspace among which those are that are taken.
  mutating func range(in keyspace: String) -> KeyRange {
    let range = ranges?[keyspace] ?? .all
    return prefixIsOfBytes && !forms[keyspace].keys.isTranslated ? range.prefix(prefix) : range
  }

  /// - Throws: ``StoreError/damaged(_:reason:)``.
  mutating func takes(_ entry: borrowing Snapshot.Entry) throws(StoreError) -> Bool {
    guard isChoosy else { return true }
    if let lastExpiry {
      guard case .at(let time) = entry.expiry, Double(time.millisecondsSince1970) <= lastExpiry else { return false }
    }
    // Of a keyspace that has come since, nothing was meant.
    if let ranges {
      guard let range = ranges[entry.keyspace], range.contains(try entry.key()) else { return false }
    }
    let pair = forms[entry.keyspace]
    if looksAtKeys, !takes(key: try entry.key(), pair.keys) { return false }
    guard !conditions.isEmpty else { return true }
    return holds(for: try entry.value(), pair.values)
  }

  /// What a path leads to in the value of an entry; null if there is nothing.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)``.
  mutating func scalar(at path: ValuePath, in entry: borrowing Snapshot.Entry) throws(StoreError) -> Scalar {
    let form = forms[entry.keyspace].values
    var found = Scalar.null
    withJSON(of: try entry.value(), form) { json, isMarked in
      guard let range = path.find(in: json) else { return }
      found = Scalar(json: json.extracting(range), isMarked: isMarked)
    }
    return found
  }

  /// A removal has no value in which a condition could hold, and emptying a keyspace concerns every key.
  mutating func takes(_ change: LogChange) -> Bool {
    // What is written from now on may be of other forms.
    if case .removeAll = change.kind { forms.forget(change.keyspace) }
    guard isChoosy else { return true }
    let pair = forms[change.keyspace]
    switch change.kind {
    case .removeAll: return conditions.isEmpty
    case .remove: return conditions.isEmpty && takes(key: change.key, pair.keys)
    case .put(let value, _):
      guard !looksAtKeys || takes(key: change.key, pair.keys) else { return false }
      return conditions.isEmpty || holds(for: value, pair.values)
    }
  }

  private func takes(key: [UInt8], _ form: StoredForm) -> Bool {
    var key = KeyEncodingOption.printed(key, form, keyEncoding)
    if ignoresCase { key = lowercased(key) }
    return key.starts(with: prefix) && match?.matches(key) ?? true
  }

  private mutating func holds(for value: [UInt8], _ form: StoredForm) -> Bool {
    let conditions = conditions
    var holds = false
    withJSON(of: value, form) { json, isMarked in
      for condition in conditions where !condition.holds(for: json, isMarked: isMarked) { return }
      holds = true
    }
    return holds
  }

  /// Calls `body` with a value as JSON, and whether what JSON has no type for is marked; not with bytes, which are no value that could
  /// be compared.
  private mutating func withJSON(of value: [UInt8], _ form: StoredForm, _ body: (Span<UInt8>, Bool) -> Void) {
    if form == .raw, JSONCursor.isDocument(ContiguousArray(value).span) {
      return body(ContiguousArray(value).span, false)
    }
    text.removeAll()
    if form.isTranslated, form.addMarked(value, to: &text) { return body(ContiguousArray(text.bytes).span, true) }
    // Text that is not JSON is a value of its own.
    guard UTF8Check.isValid(ContiguousArray(value).span) else { return }
    text.value(utf8: ContiguousArray(value).span)
    body(ContiguousArray(text.bytes).span, false)
  }
}
