import CEskerShims

/// Says whether a page of one mapping had to be replaced by zeros; one load to read.
///
/// Copy it out of the mapping and keep it beside the base address: reading it costs no call through the protocol. It
/// is worth something only while the mapping is.
///
/// Safety: the word lives in the table of guarded ranges, which is never freed. A reader that comes late still finds
/// memory, though perhaps the flag of another mapping. The word is only accessed atomically. A test may pass a word of its
/// own to `init`, which asks for the same.
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

  /// True once a page could not be had.
  @inlinable
  public var isRaised: Bool {
    unsafe esker_flag_load(pointer) != 0
  }
}
