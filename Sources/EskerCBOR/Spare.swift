import Synchronization

/// Room for one object that is not in use, so that the next call need not make its own.
///
/// Objects are passed on unmanaged, each with the one reference that its user owns: counting references would take longer
/// than the exchange.
struct Spare<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // Sendable: an object is owned by the cell or by the one caller that took it out.
  private let cell = Atomic<Unmanaged<Object>?>(nil)

  /// The object, which is now the caller's, or nil when another call has it.
  @inline(__always)
  func take() -> Unmanaged<Object>? {
    cell.exchange(nil, ordering: .acquiring)
  }

  /// Puts an object back, or gives the reference up if there are others: whoever has one must not reach into the next call.
  @inline(__always)
  func give(_ object: Unmanaged<Object>) {
    var object = object
    let isOnlyOne = withUnsafeMutablePointer(to: &object) { pointer in
      pointer.withMemoryRebound(to: Object.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
    }
    let other = isOnlyOne ? cell.exchange(object, ordering: .acquiringAndReleasing) : object
    other?.release()
  }

  deinit {
    cell.load(ordering: .acquiring)?.release()
  }
}
