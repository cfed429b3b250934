#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How many rounds long tests run: few, which find what such tests have ever found, or many, if the environment has `ESKER_THOROUGH`.
/// A number there multiplies the many.
public enum Rounds {
  /// Whether there are many.
  public static var areThorough: Bool { factor != nil }

  /// What the many are multiplied with.
  private static let factor = getenv("ESKER_THOROUGH").map { max(1, Int(String(cString: $0)) ?? 1) }

  /// The number of rounds.
  public static func count(_ quick: Int, thorough: Int) -> Int { factor.map { thorough * $0 } ?? quick }
}
