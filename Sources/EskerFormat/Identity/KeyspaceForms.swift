/// The names of the forms that a keyspace's keys and values have as bytes, such as `int64` and `cbor`; nil for one that nobody has
/// named.
///
/// Once named, a form stays as long as the keyspace: what was written before is of that form.
public struct KeyspaceForms: Hashable, Sendable {
  /// The length in bytes of the longest name.
  public static let longestName = Int(UInt8.max)

  /// The form of the keys.
  public private(set) var keys: String?
  /// The form of the values.
  public private(set) var values: String?

  /// Forms with these names, which have at most 255 bytes of UTF-8. An empty one is none.
  public init(keys: String? = nil, values: String? = nil) {
    precondition((keys ?? "").utf8.count <= Self.longestName && (values ?? "").utf8.count <= Self.longestName)
    self.keys = keys == "" ? nil : keys
    self.values = values == "" ? nil : values
  }

  /// Whether both name a form of keys, or both one of values, and not the same.
  public func contradict(_ other: KeyspaceForms) -> Bool {
    Self.differ(keys, other.keys) || Self.differ(values, other.values)
  }

  private static func differ(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return false }
    return left != right
  }

  /// These forms, and of `other` those that are not named here; the same if `other` contradicts one that is.
  public func completed(by other: KeyspaceForms) -> KeyspaceForms {
    contradict(other) ? self : KeyspaceForms(keys: keys ?? other.keys, values: values ?? other.values)
  }
}

extension KeyspaceForms: CustomStringConvertible {
  /// Both names, for messages.
  public var description: String { "keys: \(keys ?? "unknown"), values: \(values ?? "unknown")" }
}

// MARK: Bytes

extension KeyspaceForms {
  /// The forms as the value of a keyspace's frame in an export stream; no bytes if none is named.
  public func encoded() -> [UInt8] {
    guard self != KeyspaceForms() else { return [] }
    var bytes: [UInt8] = []
    appendLengths(to: &bytes)
    appendNames(to: &bytes)
    return bytes
  }

  /// Decodes what ``encoded()`` returned.
  public init(decoding bytes: RawSpan) throws(FormatError) {
    guard !bytes.isEmpty else {
      self.init()
      return
    }
    guard bytes.byteCount >= 2 else { throw .damaged(reason: "a keyspace's forms are truncated", offset: 0) }
    let valuesStart = 2 + Int(bytes.u8(at: 0))
    let end = valuesStart + Int(bytes.u8(at: 1))
    guard end == bytes.byteCount else {
      throw .damaged(reason: "the lengths of a keyspace's forms are impossible", offset: 0)
    }
    try self.init(bytes, keys: 2..<valuesStart, values: valuesStart..<end)
  }

  /// Decodes the names in these ranges, which the caller has checked to be within the bytes and not too long.
  init(_ bytes: RawSpan, keys: Range<Int>, values: Range<Int>) throws(FormatError) {
    self.init(
      keys: try bytes.text(in: keys, "the form of a keyspace's keys"),
      values: try bytes.text(in: values, "the form of a keyspace's values")
    )
  }

  func appendLengths(to bytes: inout [UInt8]) {
    bytes.append(UInt8((keys ?? "").utf8.count))
    bytes.append(UInt8((values ?? "").utf8.count))
  }

  func appendNames(to bytes: inout [UInt8]) {
    bytes.append(contentsOf: (keys ?? "").utf8)
    bytes.append(contentsOf: (values ?? "").utf8)
  }
}

extension RawSpan {
  /// The text in a range that the caller has checked to be within the bytes.
  func text(in range: Range<Int>, _ what: StaticString) throws(FormatError) -> String {
    guard let text = String(validating: range.map { u8(at: $0) }, as: UTF8.self) else {
      throw .damaged(reason: "\(what) is not UTF-8", offset: range.lowerBound)
    }
    return text
  }
}
