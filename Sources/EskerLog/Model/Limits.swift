/// What fits into a store.
enum Limits {
  /// Longest key, in bytes.
  static let keyLength = 65_535
  /// Longest value, in bytes: 1 GiB.
  static let valueLength = 1 << 30
  /// Largest batch, in bytes of records: 2 GiB.
  static let batchLength = 2 << 30
}
