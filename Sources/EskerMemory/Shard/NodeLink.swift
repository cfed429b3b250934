/// A reference to a node: its slot, and hash bits that rule out most other nodes without reading them.
///
///     bits 0-23   slot, 0 for none
///     bits 24-31  the topmost bits of the hash; the lowest ones choose the chain
@frozen
@usableFromInline
struct NodeLink {
  @usableFromInline let bits: UInt32

  @inlinable
  init(bits: UInt32) {
    self.bits = bits
  }

  @inlinable
  init(slot: UInt32, hash: UInt32) {
    bits = slot | hash & 0xFF00_0000
  }

  /// The exclusive upper bound of slot numbers.
  @inlinable static var slotLimit: UInt32 { 0x100_0000 }

  @inlinable var slot: UInt32 { bits & 0xFF_FFFF }

  @inlinable
  func fits(_ hash: UInt32) -> Bool {
    (bits ^ hash) & 0xFF00_0000 == 0
  }
}
