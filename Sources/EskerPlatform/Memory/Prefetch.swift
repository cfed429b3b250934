import CEskerShims

/// Prefetches the cache line at an address for reading. A hint: any address is allowed.
///
/// Safety: the instruction reads nothing that the program could see, and never faults, so any address will do.
@inlinable @inline(__always)
public func prefetchForReading(_ address: UInt) {
  unsafe esker_prefetch(UnsafeRawPointer(bitPattern: address))
}
