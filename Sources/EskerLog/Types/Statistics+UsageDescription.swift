extension Statistics.Usage.Amount: CustomStringConvertible {
  /// The number and the size, such as `1,204 records, 64.0 MB`.
  public var description: String { "\(NumberText.count(records, "record")), \(NumberText.bytes(bytes))" }
}

extension Statistics.Usage.Figures: CustomStringConvertible {
  /// What there is of each kind, in one line, such as `lasting: 12 records, 3.10 kB; dead: 1 record, 64 bytes`.
  public var description: String {
    let kinds = [
      ("lasting", lasting), ("expiring", expiring), ("expired", expired), ("tombstones", tombstones), ("dead", dead),
    ]
    let present = kinds.filter { $0.1.records > 0 }.map { "\($0.0): \($0.1)" }
    return present.isEmpty ? "no records" : present.joined(separator: "; ")
  }
}

extension Statistics.Usage: CustomStringConvertible {
  /// A line for each keyspace and each segment.
  public var description: String {
    let lines =
      keyspaces.sorted { $0.key < $1.key }.map { "keyspace \($0.key.isEmpty ? "(default)" : $0.key): \($0.value)" }
      + segments.sorted { $0.key < $1.key }.map { "segment \($0.key): \($0.value)" }
    return lines.joined(separator: "\n")
  }
}
