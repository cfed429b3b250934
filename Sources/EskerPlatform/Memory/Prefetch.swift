import CEskerShims

/// Asks for the cache line at an address to be brought in for reading. A hint: any address is allowed.
///
/// Safety: the instruction reads nothing that the program could see, and never faults, so any address will do.
@inlinable @inline(__always)
public func prefetchForReading(_ address: UInt) {
  unsafe esker_prefetch(UnsafeRawPointer(bitPattern: address))
}
