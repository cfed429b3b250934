import CEskerShims

/// The machine's processors.
public enum Processors {
  /// The number of processors online.
  public static var count: Int { Int(esker_processor_count()) }
}
