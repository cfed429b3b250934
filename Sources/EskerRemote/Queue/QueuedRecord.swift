internal import EskerLog

/// A write that waits for its owner, as it is in the log: the last intent of a key, and what it may find there.
///
/// ```
/// offset  bytes
///      0      1  format: 1
///      1      1  0 a removal, 1 a value
///      2     14  version that was given when the write was acknowledged, as in an envelope
///     16      1  base: 0 unknown, 1 absent, 2 foreign, 3 a version
///     17      6  expiry of the base: milliseconds since 1970 by the server's clock, 0 for never
///     23     14  version of the base; zeros if it has none
///     37         envelope and value; nothing for a removal
/// ```
/// Numbers are big-endian. On disk: never renumber.
struct QueuedRecord: Hashable, Sendable {
  static let headLength = 37

  /// What is written; nil for a removal.
  var value: RemoteValue?
  /// The version that was given when the write was acknowledged.
  var version: RemoteVersion
  var base: QueuedBase

  /// How many bytes it takes.
  var size: Int { Self.headLength + (value?.stored.count ?? 0) }

  init(_ value: RemoteValue?, version: RemoteVersion, base: QueuedBase) {
    self.value = value
    self.version = version
    self.base = base
  }

  /// From its bytes; nil if they are of no format that is known.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= Self.headLength, bytes.bigEndian(at: 0, count: 1) == 1 else { return nil }
    version = RemoteVersion(bytes, at: 2)
    base = QueuedBase(expiry: bytes.bigEndian(at: 17, count: 6))
    switch bytes.bigEndian(at: 16, count: 1) {
    case 0: break
    case 1: base.found = .absent
    case 2: base.found = .foreign
    case 3: base.found = .version(RemoteVersion(bytes, at: 23))
    default: return nil
    }
    switch bytes.bigEndian(at: 1, count: 1) {
    case 0:
      guard bytes.byteCount == Self.headLength else { return nil }
    case 1:
      let stored = RemoteValue(stored: [UInt8](copying: bytes.extracting(Self.headLength..<bytes.byteCount)))
      guard stored.version == version else { return nil }
      value = stored
    default: return nil
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = [1, value == nil ? 0 : 1]
    bytes.reserveCapacity(size)
    version.append(to: &bytes)
    switch base.found {
    case nil: bytes.append(0)
    case .absent: bytes.append(1)
    case .foreign: bytes.append(2)
    case .version: bytes.append(3)
    }
    bytes.appendBigEndian(base.expiry, count: 6)
    if case .version(let version) = base.found {
      version.append(to: &bytes)
    } else {
      bytes.append(contentsOf: [UInt8](repeating: 0, count: 14))
    }
    if let value { bytes.append(contentsOf: value.stored) }
    return bytes
  }

  /// What is asked of the owner.
  ///
  /// - Parameter milliseconds: the present by the server's clock.
  func intent(on base: QueuedBase, at milliseconds: UInt64) -> RemoteIntent {
    var intent = RemoteIntent(value, version: version, base: base.present(at: milliseconds))
    // To store what has expired is to remove it. Asked for as what it is, a repetition finds that it was done.
    if let value, value.expiry != 0, value.expiry <= milliseconds { intent.value = nil }
    return intent
  }

  /// What a write is written on that replaces this one in the log, of which nobody knows whether it has arrived.
  var left: QueuedBase { base.followed(by: value) }
}

/// What a writer believes to be at the owner when a write of a key is queued.
struct QueuedBase: Hashable, Sendable {
  /// Nil if it did not know.
  var found: RemoteFound?
  /// When that expires: milliseconds since 1970 by the server's clock, 0 for never.
  var expiry: UInt64 = 0

  /// What is expected to be there now: a value that has expired meanwhile was removed by nobody.
  func present(at milliseconds: UInt64) -> RemoteFound? {
    if case .version = found, expiry != 0, expiry <= milliseconds { return .absent }
    return found
  }

  /// What the next write may find after one that has arrived or not, and is older than it.
  ///
  /// A value loses to the next write by time, this base as well as that of the write. What is expected has to be said only of absence:
  /// nobody but the writer made it if it was a removal, or if the write's value has expired.
  func followed(by value: RemoteValue?) -> QueuedBase {
    guard let value else { return QueuedBase(found: .absent) }
    guard value.expiry != 0 else { return self }
    return QueuedBase(found: found, expiry: expiry == 0 ? value.expiry : min(expiry, value.expiry))
  }
}

extension RemoteVersion {
  /// The next version of the same time by a writer; of the next millisecond, if the count is used up.
  func successor(by writer: UInt64) -> RemoteVersion {
    count < .max
      ? RemoteVersion(time: time, count: count + 1, writer: writer)
      : RemoteVersion(time: time + 1, count: 0, writer: writer)
  }
}
