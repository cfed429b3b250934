/// The operations of a writer that is going to be killed, chosen so that another process can tell from the store how far it
/// got.
///
/// Each thread has its own keys, and operation number `n` is determined by `n` alone: so the state of its keys after any
/// number of operations is known, and every state with a hole can be recognised.
public enum KillScript {
  /// One operation.
  public struct Operation: Sendable {
    /// The keys and values to put, in one batch if there are several.
    public var puts: [(key: String, value: [UInt8])] = []
    /// The key to remove.
    public var removal: String?
    /// Whether the call waits for the disk.
    public var isSynced = false
  }

  private static let slotCount: UInt64 = 40
  private static let markCount: UInt64 = 3

  /// The operation with this number.
  public static func operation(_ number: UInt64, thread: Int) -> Operation {
    var operation = Operation()
    operation.isSynced = number % 16 == 0
    let slot = "\(thread) slot \(number % slotCount)"
    if number % 7 == 0 {
      operation.removal = slot
      return operation
    }
    operation.puts.append((slot, value(number)))
    if number % 5 == 0 {
      operation.puts.append(("\(thread) mark \(number / 5 % markCount)", value(number)))
      operation.puts.append(("\(thread) last mark", value(number)))
    }
    return operation
  }

  private static func value(_ number: UInt64) -> [UInt8] {
    Array("\(number) ".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Int(number * 37 % 700))
  }

  /// The values of a thread's keys after its operation `last`; absent keys are left out.
  public static func state(after last: UInt64, thread: Int) -> [String: [UInt8]] {
    var state: [String: [UInt8]] = [:]
    // All operations before these have been overwritten.
    let reach = slotCount * 7
    for number in (last > reach ? last - reach : 1)..<last + 1 {
      let operation = operation(number, thread: thread)
      if let key = operation.removal { state[key] = nil }
      for (key, value) in operation.puts { state[key] = value }
    }
    return state
  }

  // MARK: A writer that only replaces

  /// How many keys it overwrites in turn.
  public static let replacedKeys: UInt64 = 8

  /// The key of its write with this number.
  public static func replacedKey(_ number: UInt64) -> String { "replaced \(number % replacedKeys)" }

  /// The value of that write: the number, many times.
  public static func replacement(_ number: UInt64) -> [UInt8] {
    let words = [UInt64](repeating: number, count: 2_000)
    return words.withUnsafeBytes { Array($0) }
  }

  /// Every key that a thread may write.
  public static func keys(thread: Int) -> [String] {
    (0..<slotCount).map { "\(thread) slot \($0)" } + (0..<markCount).map { "\(thread) mark \($0)" }
      + ["\(thread) last mark"]
  }
}
