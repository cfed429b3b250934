import Synchronization

/// Room for one object that is not in use, so that the next call need not make its own.
struct Spare<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // Sendable: an object is owned by the cell or by the one caller that took it out.
  private let cell = Atomic<Unmanaged<Object>?>(nil)

  /// The object, which is now the caller's, or nil when another call has it.
  func take() -> Object? {
    cell.exchange(nil, ordering: .acquiring)?.takeRetainedValue()
  }

  /// Puts an object back; one that is there already is let go.
  func give(_ object: consuming Object) {
    cell.exchange(.passRetained(object), ordering: .acquiringAndReleasing)?.release()
  }

  deinit {
    cell.load(ordering: .acquiring)?.release()
  }
}
