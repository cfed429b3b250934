/// The map that a keyed container reads.
///
/// While the session keeps the container for reuse, the map does not own the session. While the container is held elsewhere,
/// it does.
final class MapReading {
  private let session: BorrowedObject<DecodingSession>
  /// Never set while the session keeps the container: they would own each other.
  var owner: DecodingSession?
  /// The offset of the map.
  var start = 0
  var entries = DocumentMap(first: 0, entries: 0)
  var isIndefinite = false
  let spellings: KeySpellings

  init(session: DecodingSession, _ spellings: KeySpellings) {
    // Safety: the session is alive at every call, since the caller is inside its value, or holds a container whose map owns
    // it.
    self.session = unsafe BorrowedObject(session)
    self.spellings = spellings
  }

  @inline(__always)
  func withSession<R>(_ body: (DecodingSession) throws -> R) rethrows -> R {
    try session.with(body)
  }

  @inline(__always)
  fileprivate func set(_ head: ItemReader.Head, _ count: Int, start: Int) {
    self.start = start
    entries = DocumentMap(first: head.end, entries: count)
    isIndefinite = head.isIndefinite
  }
}

extension DecodingSession {
  /// Whether containers can be kept on the shelf.
  static let canReuseContainers: Bool = {
    let map = MapReading(session: DecodingSession(), KeySpellings())
    return ContainerLayout.isOneReference(KeyedDecodingContainer(KeyedDecoding<DocumentKey>(map, isOwner: true)))
  }()

  /// A container for the entries of the map at `start`.
  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type, at start: Int) throws -> KeyedDecodingContainer<Key> {
    let (head, count) = try openMap(at: start)
    if let (map, container) = shelf.container(keyedBy: type) {
      map.set(head, count, start: start)
      return ContainerLayout.container(container)
    }
    return newContainer(keyedBy: type, head, count, start: start)
  }

  /// The head of the map at `start`, and the number of its entries.
  @inline(__always)
  func mapHead(at start: Int) throws -> (ItemReader.Head, count: Int) {
    let head = try head(at: start)
    guard head.major == MajorType.map else { throw mismatch([String: Any].self, at: start) }
    do { return (head, try reader.items(head)) } catch { throw decodingError(error) }
  }

  private func openMap(at start: Int) throws -> (ItemReader.Head, count: Int) {
    let (head, count) = try mapHead(at: start)
    if count == 0 {
      found(head.end + (head.isIndefinite ? 1 : 0), ofItemAt: start)
    } else if frame.cursor.map < 0 {
      frame.cursor = DocumentMap(first: head.end, entries: count).start
    }
    return (head, count)
  }

  @inline(never)
  private func newContainer<Key: CodingKey>(
    keyedBy type: Key.Type,
    _ head: ItemReader.Head,
    _ count: Int,
    start: Int
  ) -> KeyedDecodingContainer<Key> {
    let map = MapReading(session: self, shelf.map(keyedBy: type)?.spellings ?? KeySpellings())
    map.set(head, count, start: start)
    if Self.canReuseContainers {
      let container = KeyedDecodingContainer(KeyedDecoding<Key>(map, isOwner: false))
      shelf.add(ContainerLayout.reference(container), map, keyedBy: type)
      return container
    }
    map.owner = self
    return KeyedDecodingContainer(KeyedDecoding<Key>(map, isOwner: true))
  }
}
