public import Foundation

extension StorageRequest {
  /// Where an entry was found.
  public enum Origin: UInt8, Sendable {
    /// In memory.
    case memory
    /// In the log.
    case log
    /// In a storage of the caller's own, or, as pairs are, in several storages.
    case back
    /// Nowhere: it was made for this call, as a default or by a producer.
    case produced
  }
}

/// A value and what is known about it.
public struct Entry<Value> {
  /// The value.
  public var value: Value
  /// Where it was found.
  public var origin: StorageRequest.Origin
  /// When it expires.
  public var expiry: Expiry
  /// The write that stored it; nil if it is not stored, as a default is not.
  public var version: SequenceNumber?
  /// Whether it stands in for one that could not be read, so that no tier may keep it.
  @usableFromInline var isTentative = false

  /// Whether a tier in front may keep it: it is what is behind, and neither made for the occasion nor in place of something that could
  /// not be read.
  @inlinable
  var isKeepable: Bool { origin != .produced && !isTentative }

  /// An entry from its parts.
  @inlinable
  public init(_ value: Value, origin: StorageRequest.Origin, expiry: Expiry = .never, version: SequenceNumber? = nil) {
    self.value = value
    self.origin = origin
    self.expiry = expiry
    self.version = version
  }

  /// The same entry with another value.
  @inlinable
  public func map<New, Failure: Error>(_ transform: (Value) throws(Failure) -> New) throws(Failure) -> Entry<New> {
    var entry = Entry<New>(try transform(value), origin: origin, expiry: expiry, version: version)
    entry.isTentative = isTentative
    return entry
  }

  /// Whether the entry has expired at `instant`. Not if its expiry is a duration, which counts from the write.
  ///
  /// A storage that goes by another clock than the system's says what time it is: `entry.isExpired(at: storage.time)`.
  public func isExpired(at instant: WallTime) -> Bool {
    guard case .at(let end) = expiry else { return false }
    return end <= instant
  }

  /// Whether the entry has expired at `instant`. Not if its expiry is a duration, which counts from the write.
  public func isExpired(at instant: Date = Date()) -> Bool { isExpired(at: WallTime(instant)) }

  /// How long after `instant` the entry expires, at least zero; nil if it never does.
  public func remaining(at instant: Date = Date()) -> Duration? { remaining(at: WallTime(instant)) }

  /// How long after `instant` the entry expires, at least zero; nil if it never does.
  public func remaining(at instant: WallTime) -> Duration? {
    switch expiry {
    case .never:
      return nil
    case .after(let duration):
      return duration
    case .at(let end):
      let (difference, overflow) = end.millisecondsSince1970.subtractingReportingOverflow(
        instant.millisecondsSince1970
      )
      if overflow { return .milliseconds(end.millisecondsSince1970 < 0 ? 0 : Int64.max) }
      return .milliseconds(max(0, difference))
    }
  }
}

extension Entry: Sendable where Value: Sendable {}
extension Entry: Equatable where Value: Equatable {}
