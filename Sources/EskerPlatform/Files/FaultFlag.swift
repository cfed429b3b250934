import CEskerShims

/// Tells whether any page of a mapping had to be replaced by zeros. Reading it costs one load.
///
/// Copy it out of the mapping and keep it next to the base address, so that reading it needs no call through the protocol.
/// It means something only as long as the mapping exists.
///
/// Safety: the word lives in the table of guarded ranges, which is never freed. A late reader still finds memory, though
/// possibly the flag of another mapping. The word is only accessed atomically. A test may pass a word of its own to `init`,
/// which requires the same.
@frozen
@safe
public struct FaultFlag: Sendable {
  @usableFromInline
  nonisolated(unsafe) let pointer: UnsafeRawPointer

  /// Wraps a 32-bit word that is written atomically and outlives the mapping.
  @unsafe
  public init(_ pointer: UnsafeRawPointer) {
    unsafe self.pointer = unsafe pointer
  }

  /// True once a page could not be read in.
  @inlinable
  public var isRaised: Bool {
    unsafe esker_flag_load(pointer) != 0
  }
}
