extension Report {
  /// What a check of a storage found: whether all that is stored can be read with the types of today.
  ///
  /// It stays small however much fails: failures are grouped by their reason, and of each group a few keys are kept.
  public struct Check<Key: Sendable>: Sendable {
    /// One of the entries that failed.
    public struct Sample: Sendable {
      /// The key; nil if its bytes are none.
      public var key: Key?
      /// The key's bytes, as they are stored; nil where the storage has none, or they cannot be read.
      public var bytes: [UInt8]?
      /// The key for people: what it prints as, or its bytes if they are no key.
      public var description: String
    }

    /// The entries that fail for one reason.
    public struct Failure: Sendable {
      /// Why they cannot be read, without what differs from entry to entry, such as the key.
      public var reason: String
      /// How many there are.
      public var count: Int
      /// What a read of the first one throws.
      public var error: StorageError
      /// The first of them, as many as were asked for.
      public var samples: [Sample]
    }

    /// How many reasons are told apart; entries that fail for others are counted in ``others``.
    public static var mostFailures: Int { 32 }

    /// The number of entries that could be read.
    public internal(set) var decoded = 0
    /// The entries that are intact and cannot be read, by reason, those with most entries first.
    public internal(set) var failures: [Failure] = []
    /// The number of entries that fail for reasons beyond the first ``mostFailures``.
    public internal(set) var others = 0
    /// The number of damaged records, which no type could read. Of one whose header is damaged nobody knows whose it is: it is counted
    /// by the check of each storage of the store.
    public internal(set) var damaged = 0
    /// Where the first of them are: `StoreError.damaged`. `LogStore.verify(progress:)` finds all damage.
    public internal(set) var damage: [StoreError] = []

    private let mostSamples: Int

    init(samples: Int) { mostSamples = max(0, samples) }

    /// The number of entries that are intact and cannot be read.
    public var undecoded: Int { failures.reduce(others) { $0 + $1.count } }

    /// Whether everything could be read.
    public var isClean: Bool { undecoded == 0 && damaged == 0 }

    /// Counts an entry that a read would not return.
    ///
    /// - Throws: the error itself, if it is not one of the entry, such as that the store was closed.
    mutating func add(_ error: StorageError, key: Key?, bytes: [UInt8]?) throws(StorageError) {
      switch error {
      case .store(.damaged(let location, let reason)):
        damaged += 1
        if damage.count < mostSamples { damage.append(.damaged(location, reason: reason)) }
        return
      case .store, .cancelled: throw error
      default: break
      }
      let reason = error.commonReason
      guard let known = failures.firstIndex(where: { $0.reason == reason }) else {
        guard failures.count < Self.mostFailures else {
          others += 1
          return
        }
        failures.append(Failure(reason: reason, count: 1, error: error, samples: []))
        return note(key, bytes, error, in: failures.count - 1)
      }
      failures[known].count += 1
      note(key, bytes, error, in: known)
    }

    private mutating func note(_ key: Key?, _ bytes: [UInt8]?, _ error: StorageError, in group: Int) {
      guard failures[group].samples.count < mostSamples else { return }
      let shown = key.map { "\($0)" } ?? bytes.map { printable($0) } ?? error.shownKey
      failures[group].samples.append(Sample(key: key, bytes: bytes, description: shown))
    }

    /// Puts the reasons into the order in which they are shown. The first to come stays first among equals.
    mutating func sort() {
      let ranked = failures.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
      failures = ranked.map(\.element)
    }
  }
}

extension Report.Check: CustomStringConvertible {
  /// How many entries can be read, and a line for each reason why others cannot, such as `2 entries: the value is not User (cbor): there
  /// is no value for "age", such as anna, bert`.
  public var description: String {
    func entries(_ count: Int) -> String { count == 1 ? "1 entry" : "\(count) entries" }
    var lines = ["\(entries(decoded)) can be read" + (isClean ? "" : ", \(undecoded) cannot, \(damaged) damaged")]
    for failure in failures {
      let samples = failure.samples.map(\.description).joined(separator: ", ")
      lines.append("\(entries(failure.count)): \(failure.reason)" + (samples.isEmpty ? "" : ", such as \(samples)"))
    }
    if others > 0 { lines.append("\(entries(others)) for more reasons") }
    lines += damage.map(\.description)
    return lines.joined(separator: "\n")
  }
}

extension StorageError {
  /// The key that the error names; empty if it names none.
  fileprivate var shownKey: String {
    switch self {
    case .decoding(let key, _, _, _), .key(let key, _, _), .rejected(let key, _, _): key
    default: ""
    }
  }

  /// What is wrong, without the key: the same for entries with which the same is wrong.
  fileprivate var commonReason: String {
    let reason =
      switch self {
      case .decoding(_, _, let expected, let underlying): "the value is not \(expected): \(common(underlying))"
      case .key(_, _, let underlying): "the key cannot be used: \(common(underlying))"
      case .rejected(_, _, let underlying): "the value was rejected: \(common(underlying))"
      default: description
      }
    // What an error quotes may be as long as a value.
    return reason.count > 300 ? reason.prefix(300) + "…" : reason
  }
}

/// What an error of decoding says, without places and numbers, which differ from value to value. Other errors say what they say.
private func common(_ error: any Error) -> String {
  func place(_ path: [any CodingKey]) -> String {
    let names = path.map { $0.intValue == nil ? ".\($0.stringValue)" : "[]" }.joined()
    return names.isEmpty ? "" : " in \(names.hasPrefix(".") ? String(names.dropFirst()) : names)"
  }
  switch error {
  case DecodingError.keyNotFound(let key, let context):
    return "there is no value for \"\(key.stringValue)\"\(place(context.codingPath))"
  case DecodingError.valueNotFound(let type, let context): return "null is not \(type)\(place(context.codingPath))"
  case DecodingError.typeMismatch(let type, let context):
    return "not \(type)\(place(context.codingPath)): \(withoutNumbers(context.debugDescription))"
  case DecodingError.dataCorrupted(let context):
    return "\(withoutNumbers(context.debugDescription))\(place(context.codingPath))"
  default: return "\(error)"
  }
}

/// The text with an N for each number that stands by itself, and without the place that Esker's own decoder tells: ` (At byte 7 of 12.)`.
private func withoutNumbers(_ text: String) -> String {
  var result: [UInt8] = []
  var isInWord = false
  for byte in text.utf8 {
    let isDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    if isDigit, !isInWord {
      if result.last != UInt8(ascii: "N") { result.append(UInt8(ascii: "N")) }
      continue
    }
    // That of `Int8` is none.
    isInWord = isDigit || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z") || byte >= 0x80
    result.append(byte)
  }
  return String(decoding: result, as: UTF8.self).replacing(" (At byte N of N.)", with: "")
}
