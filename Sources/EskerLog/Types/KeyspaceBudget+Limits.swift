internal import EskerFormat

extension KeyspaceBudget {
  /// Whether so much is within it.
  func holds(bytes: Int, entries: Int) -> Bool {
    UInt64(clamping: bytes) <= self.bytes && UInt64(clamping: entries) <= self.entries
  }

  /// Both limits; nil for none.
  var limits: (bytes: Int?, entries: Int?) {
    (bytes == .max ? nil : Int(clamping: bytes), entries == .max ? nil : Int(clamping: entries))
  }

  /// A hundredth less: what is evicted down to, so that the next writes find room.
  var lowered: KeyspaceBudget {
    KeyspaceBudget(
      bytes: bytes == .max ? .max : bytes - bytes / 100,
      entries: entries == .max ? .max : entries - entries / 100
    )
  }

  /// The capacity in bytes of a store whose marks of what was read are enough for a keyspace of this budget: values of a few hundred
  /// bytes, if only their number is known; at most 16 MiB of marks.
  var storeCapacity: Int {
    Int(min(bytes, entries > 1 << 40 ? .max : entries * 256, 8 << 30))
  }
}
