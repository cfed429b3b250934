import Synchronization

/// Keeps one unused object, so that the next call need not create its own.
///
/// Objects are passed on without reference counting, each with the one reference that its user owns: counting would take
/// longer than the exchange.
///
/// Safety: threads may share it, since an object belongs either to the cell or to the one caller that took it, and nobody
/// gets at the one in the cell but by the exchange. That acquires what the previous caller released. The one reference goes
/// from `take` to `give`, which each caller calls once, and from there into the cell or away.
@safe
struct SpareObject<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  private let cell = unsafe Atomic<Unmanaged<Object>?>(nil)

  /// The spare object, or a new one from `make` while another call has it. It belongs to the caller until given back.
  @inline(__always)
  func take(orMake make: () -> Object) -> BorrowedObject<Object> {
    unsafe BorrowedObject(cell.exchange(nil, ordering: .acquiring) ?? Unmanaged.passRetained(make()))
  }

  /// Puts an object back, or releases it if there are other references: their holders must not reach into the next call.
  @inline(__always)
  func give(_ object: BorrowedObject<Object>) {
    // An unmanaged reference has the layout of a managed one.
    var object = unsafe object.reference
    let isOnlyOne = unsafe withUnsafeMutablePointer(to: &object) { pointer in
      unsafe pointer.withMemoryRebound(to: Object.self, capacity: 1) { unsafe isKnownUniquelyReferenced(&$0.pointee) }
    }
    let other = unsafe isOnlyOne ? cell.exchange(object, ordering: .acquiringAndReleasing) : object
    unsafe other?.release()
  }

  deinit {
    unsafe cell.load(ordering: .acquiring)?.release()
  }
}
