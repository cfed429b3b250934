import CEskerShims

/// How many files this process may have open at once, as `ulimit -n` shows it.
public enum DescriptorLimit {
  /// The soft limit, which counts; `Int.max` when there is none.
  public static var current: Int { Int(clamping: esker_descriptor_limit()) }

  /// Raises the soft limit as far as the hard one, or the system, lets it be raised. Does nothing where that fails.
  public static func raise() { esker_raise_descriptor_limit() }

  /// Whether a file that rests is to give up a descriptor of that number: the system gives the lowest that is free, so at least
  /// half of all are in use. The upper half is left to what cannot do without, whoever uses the lower one.
  static func isScarce(_ descriptor: Int32) -> Bool { Int(descriptor) >= current / 2 }
}
