/// The map that a keyed container writes to.
///
/// While the session keeps the container for reuse, the map does not own the session. While the container is held elsewhere,
/// it does.
final class MapWriting {
  private let session: BorrowedObject<EncodingSession>
  /// Never set while the session keeps the container: they would own each other.
  var owner: EncodingSession?
  /// The container's frame.
  var serial: UInt64
  let spellings: KeySpellings

  init(session: EncodingSession, serial: UInt64, _ spellings: KeySpellings) {
    // Safety: the session is alive at every call, since the caller is inside its value, or holds a container whose map owns
    // it.
    self.session = unsafe BorrowedObject(session)
    self.serial = serial
    self.spellings = spellings
  }

  @inline(__always)
  func withSession<R>(_ body: (EncodingSession) throws -> R) rethrows -> R {
    try session.with(body)
  }
}

extension EncodingSession {
  /// Whether containers can be kept on the shelf.
  static let canReuseContainers: Bool = {
    let map = MapWriting(session: EncodingSession(), serial: 0, KeySpellings())
    return ContainerLayout.isOneReference(KeyedEncodingContainer(KeyedEncoding<DocumentKey>(map: map)))
  }()

  /// A container for the entries of the frame with this serial.
  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type, serial: UInt64) -> KeyedEncodingContainer<Key> {
    if frame.serial == serial, let (map, container) = shelf.container(keyedBy: type) {
      map.serial = serial
      return ContainerLayout.container(container)
    }
    return newContainer(keyedBy: type, serial: serial)
  }

  @inline(never)
  private func newContainer<Key: CodingKey>(keyedBy type: Key.Type, serial: UInt64) -> KeyedEncodingContainer<Key> {
    let map = MapWriting(session: self, serial: serial, shelf.map(keyedBy: type)?.spellings ?? KeySpellings())
    let container = KeyedEncodingContainer(KeyedEncoding<Key>(map: map))
    // A part may be released before the holders of its containers, and so may a session whose encoder was kept.
    if frame.serial == serial, !isPart, Self.canReuseContainers {
      shelf.add(ContainerLayout.reference(container), map, keyedBy: type)
    } else {
      map.owner = self
    }
    return container
  }
}
