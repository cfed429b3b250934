import CEskerShims

/// How many files this process may have open at once, as `ulimit -n` shows it.
public enum DescriptorLimit {
  /// The soft limit, which is the one that applies; `Int.max` if there is none.
  public static var current: Int { Int(clamping: esker_descriptor_limit()) }

  /// Raises the soft limit as far as the hard limit or the system allows. Does nothing on failure.
  public static func raise() { esker_raise_descriptor_limit() }

  /// Whether a resting file should give up a descriptor with that number. The system hands out the lowest free number, so at
  /// least half of them are then in use; the upper half is left to uses that cannot do without a descriptor.
  static func isScarce(_ descriptor: Int32) -> Bool { Int(descriptor) >= current / 2 }
}
