/// A keyspace's entry in the manifest.
public struct KeyspaceRow: Hashable, Sendable {
  /// The length in bytes of a row with an empty name.
  static let minimumLength = 24

  /// Its identifier; 0 is the default keyspace.
  public var id: UInt32
  /// How often it has been emptied.
  public var incarnation: UInt32
  /// The default lifetime of its entries, in milliseconds; -1 for no expiry.
  public var defaultExpiry: Int64
  /// Its name, at most 65,535 bytes of UTF-8.
  public var name: String
  /// The forms of its keys and values.
  public var forms: KeyspaceForms
  /// What it may take.
  public var budget: KeyspaceBudget

  /// A row with the given fields.
  public init(
    id: UInt32,
    incarnation: UInt32 = 0,
    defaultExpiry: Int64 = -1,
    name: String,
    forms: KeyspaceForms = KeyspaceForms(),
    budget: KeyspaceBudget = .unlimited
  ) {
    self.id = id
    self.incarnation = incarnation
    self.defaultExpiry = defaultExpiry
    self.name = name
    self.forms = forms
    self.budget = budget
  }

  /// The tag in its records.
  public var tag: KeyspaceTag { KeyspaceTag(id: id, incarnation: incarnation) }

  /// - Parameter hasBudget: Whether the rows of this manifest have budgets.
  func append(to bytes: inout [UInt8], hasBudget: Bool) {
    precondition(name.utf8.count <= UInt16.max)
    bytes.append(id)
    bytes.append(incarnation)
    bytes.append(defaultExpiry)
    bytes.append(UInt16(name.utf8.count))
    forms.appendLengths(to: &bytes)
    bytes.append(contentsOf: name.utf8)
    forms.appendNames(to: &bytes)
    bytes.pad8()
    if hasBudget {
      bytes.append(budget.bytes)
      bytes.append(budget.entries)
    }
  }

  /// Decodes the row at `offset` and moves `offset` past it; the caller has checked that there are at least 24 bytes.
  init(decoding bytes: RawSpan, at offset: inout Int, hasBudget: Bool) throws(FormatError) {
    id = bytes.u32(at: offset)
    incarnation = bytes.u32(at: offset + 4)
    defaultExpiry = bytes.i64(at: offset + 8)
    // The greatest number is reserved to mean that none are left.
    guard id < .max else { throw .damaged(reason: "a keyspace's identifier is impossible: \(id)", offset: offset) }
    guard incarnation <= FormatLimit.incarnation else {
      throw .damaged(reason: "a keyspace's incarnation is impossible: \(incarnation)", offset: offset + 4)
    }
    guard defaultExpiry >= -1 else {
      throw .damaged(reason: "a keyspace's default expiry is impossible", offset: offset + 8)
    }
    let nameStart = offset + 20
    let keysStart = nameStart + Int(bytes.u16(at: offset + 16))
    let valuesStart = keysStart + Int(bytes.u8(at: offset + 18))
    let textEnd = valuesStart + Int(bytes.u8(at: offset + 19))
    let end = (textEnd + 7) & ~7
    guard end <= bytes.byteCount else { throw .damaged(reason: "a keyspace's name is truncated", offset: offset + 16) }
    name = try bytes.text(in: nameStart..<keysStart, "a keyspace's name")
    forms = try KeyspaceForms(bytes, keys: keysStart..<valuesStart, values: valuesStart..<textEnd)
    try bytes.requireZeros(in: textEnd..<end)
    budget = .unlimited
    offset = end
    guard hasBudget else { return }
    guard bytes.byteCount - end >= KeyspaceBudget.length else {
      throw .damaged(reason: "a keyspace's capacity is truncated", offset: end)
    }
    budget = KeyspaceBudget(bytes: bytes.u64(at: end), entries: bytes.u64(at: end + 8))
    offset += KeyspaceBudget.length
  }
}

/// The most that the entries of a keyspace may take together.
public struct KeyspaceBudget: Hashable, Sendable {
  /// The length in bytes of its form in a manifest.
  static let length = 16

  /// Bytes of records, as long as they are not packed; `UInt64.max` for no limit.
  public var bytes: UInt64
  /// The number of entries; `UInt64.max` for no limit.
  public var entries: UInt64

  /// A budget with the given limits.
  public init(bytes: UInt64, entries: UInt64) {
    self.bytes = bytes
    self.entries = entries
  }

  /// No limits.
  public static let unlimited = KeyspaceBudget(bytes: .max, entries: .max)
}
