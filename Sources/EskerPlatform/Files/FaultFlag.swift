import CEskerShims

/// Says whether a page of one mapping had to be replaced by zeros; one load to read.
///
/// Copy it out of the mapping and keep it beside the base address: reading it costs no call through the protocol. It
/// is worth something only while the mapping is.
@frozen
@safe
public struct FaultFlag: Sendable {
  // Memory that lives as long as the mapping (the table of guarded ranges: as long as the process). Written and read
  // with atomic operations only.
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
