#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A random number generator determined by a single number, so that a failing test can be repeated (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  /// The number that the generator started from.
  public let seed: UInt64
  private var state: UInt64

  /// Starts from `seed`.
  public init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// Creates a generator from `ESKER_SEED` in the environment, or else from a random seed, and prints how to repeat the run.
  public init(announcedFor test: String) {
    let given = getenv("ESKER_SEED").flatMap { UInt64(String(cString: $0)) }
    self.init(seed: given ?? UInt64.random(in: 0...UInt64(UInt32.max)))
    print("\(test): ESKER_SEED=\(seed)")
  }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// True with a probability of 1 in `count`.
  public mutating func oneIn(_ count: Int) -> Bool {
    Int.random(in: 0..<count, using: &self) == 0
  }

  /// Random bytes.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  /// A generator independent of this one's future.
  public mutating func split() -> SeededGenerator {
    SeededGenerator(seed: next())
  }
}
