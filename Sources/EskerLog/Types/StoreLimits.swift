/// The largest sizes that a store accepts.
enum StoreLimits {
  /// In bytes.
  static let keyLength = 65_535
  /// In bytes: 1 GiB.
  static let valueLength = 1 << 30
  /// In bytes of records: 2 GiB.
  static let batchLength = 2 << 30
}
