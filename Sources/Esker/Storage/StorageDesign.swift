internal import Synchronization

/// What every storage says of itself, whatever it can do.
public protocol StorageDesign: Sendable {
  /// What the storage is called in errors and measurements.
  var name: String { get }

  /// Which storage this is. Storages with the same identity give the same values for the same keys, and share what is under
  /// way: a value that one of them is producing, the others wait for.
  var identity: StorageIdentity { get }

  /// Whether a call may wait for a disk, a network or another process. Asynchronous twins of a storage that never waits run
  /// where they are called. True unless the storage says otherwise.
  var mayBlock: Bool { get }
}

extension StorageDesign {
  /// True: a storage is taken to wait unless it says otherwise.
  @inlinable public var mayBlock: Bool { true }
}

/// Tells a storage from all others of the process.
public struct StorageIdentity: Hashable, Sendable {
  let number: UInt64

  /// A counter: relaxed.
  private static let last = Atomic<UInt64>(0)

  /// An identity that no other storage has.
  public init() {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}
