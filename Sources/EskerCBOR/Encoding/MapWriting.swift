/// The map that a keyed container writes to.
///
/// It knows its session without owning it while the session keeps the container for the next value. Where somebody holds the
/// container, it owns the session.
final class MapWriting {
  private let session: Unmanaged<EncodingSession>
  /// Never set while the session keeps the container: they would own each other.
  var owner: EncodingSession?
  /// The frame that the container is of.
  var serial: UInt64
  let spellings: KeySpellings

  init(session: EncodingSession, serial: UInt64, _ spellings: KeySpellings) {
    self.session = Unmanaged.passUnretained(session)
    self.serial = serial
    self.spellings = spellings
  }

  /// Lends the session, which is alive: whoever calls either is inside its value or holds the container.
  @inline(__always)
  func withSession<R>(_ body: (EncodingSession) throws -> R) rethrows -> R {
    try session._withUnsafeGuaranteedRef { try body($0) }
  }
}

extension EncodingSession {
  /// A container for the entries of the frame with that serial.
  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type, serial: UInt64) -> KeyedEncodingContainer<Key> {
    if frame.serial == serial, let (map, container) = shelf.container(keyedBy: type) {
      map.serial = serial
      return unsafeBitCast(container, to: KeyedEncodingContainer<Key>.self)
    }
    return newContainer(keyedBy: type, serial: serial)
  }

  @inline(never)
  private func newContainer<Key: CodingKey>(keyedBy type: Key.Type, serial: UInt64) -> KeyedEncodingContainer<Key> {
    let map = MapWriting(session: self, serial: serial, shelf.map(keyedBy: type)?.spellings ?? KeySpellings())
    let container = KeyedEncodingContainer(KeyedEncoding<Key>(map: map))
    // A part may be over before those that hold its containers are, and so may a session whose encoder somebody kept.
    if frame.serial == serial, !isPart, ContainerLayout.isOneReference {
      shelf.add(unsafeBitCast(container, to: AnyObject.self), map, keyedBy: type)
    } else {
      map.owner = self
    }
    return container
  }
}
