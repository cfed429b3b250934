/// Planted errors: each leaves out one rule, so that a test can show that its checker would notice. Never set outside of tests, and
/// asked for only where something is sent, received or raised.
struct PlantedFaults: OptionSet, Sendable {
  let rawValue: UInt32

  /// What was read is kept although a change was reported after its reply.
  static let noFence = PlantedFaults(rawValue: 1 << 0)
  /// What an older connection verified stays trusted.
  static let keepEpoch = PlantedFaults(rawValue: 1 << 1)
  /// A write whose caller gave up no longer counts as under way.
  static let forgetOnTimeout = PlantedFaults(rawValue: 1 << 2)
  /// Several writes of one key are under way, and the first reply grants trust.
  static let twoWrites = PlantedFaults(rawValue: 1 << 3)
  /// After a script of our own the next change is taken for its echo.
  static let ignoreEcho = PlantedFaults(rawValue: 1 << 4)
  /// The old value stays trusted while a write of our own is under way.
  static let trustAtSend = PlantedFaults(rawValue: 1 << 5)
  /// A value that was given to a caller, but not kept, leaves an older trusted one in place.
  static let unusedReply = PlantedFaults(rawValue: 1 << 6)
  /// What was read is kept as tasks happen to run.
  static let noOrder = PlantedFaults(rawValue: 1 << 7)
  /// A reply that comes while the lease is over, or of an older generation, grants trust.
  static let fillWhileSuspended = PlantedFaults(rawValue: 1 << 8)

  // Of queued writes.

  /// What is near is trusted although a write of the key waits.
  static let trustQueued = PlantedFaults(rawValue: 1 << 9)
  /// The record of a write that was replayed is removed, although it is a newer one by then.
  static let removeUnseen = PlantedFaults(rawValue: 1 << 10)
  /// The record is removed before the owner has answered.
  static let removeEarly = PlantedFaults(rawValue: 1 << 11)
  /// A replay gives a version of its own.
  static let newVersionAtReplay = PlantedFaults(rawValue: 1 << 12)
  /// A write that replaces one that waits forgets what that was written on.
  static let forgetBase = PlantedFaults(rawValue: 1 << 13)
  /// A write that replaces one that waits is taken to be written on what that was, although that may have arrived.
  static let keepBase = PlantedFaults(rawValue: 1 << 16)

  // Of what is served without trust.

  /// What a write of our own has replaced stays.
  static let keepReplaced = PlantedFaults(rawValue: 1 << 14)
  /// What a write of our own may have replaced counts as before.
  static let neverDoubt = PlantedFaults(rawValue: 1 << 15)
}
