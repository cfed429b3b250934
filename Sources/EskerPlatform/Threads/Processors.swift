import CEskerShims

/// What the machine can do at a time.
public enum Processors {
  /// Processors that are in use.
  public static var count: Int { Int(esker_processor_count()) }
}
