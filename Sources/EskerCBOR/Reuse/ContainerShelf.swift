/// Keyed containers of Codable that nobody holds any more, kept for reuse.
///
/// Creating one takes longer than writing four fields into it: Codable wraps ours in an object, and looks up three generic
/// types to do so. The wrapped object is reused. It refers to a `Map`, which is updated by the code that reuses it.
///
/// The reference count shows that nobody holds a container. A map must not keep its session alive while it is here, since
/// the session owns the shelf.
struct ContainerShelf<Map: AnyObject> {
  private struct Place {
    let key: ObjectIdentifier
    let map: Map
    /// Codable's container, which consists of one reference. Never nil; optional because otherwise it would be copied to
    /// check whether it is the only reference.
    var container: AnyObject?
  }

  private var places: [Place] = []

  /// A container for keys of a type, with its map; nil if none is free.
  @inline(__always)
  mutating func container(keyedBy key: any CodingKey.Type) -> (map: Map, container: AnyObject)? {
    let key = ObjectIdentifier(key)
    for index in places.indices where places[index].key == key {
      if isKnownUniquelyReferenced(&places[index].container), let container = places[index].container {
        return (places[index].map, container)
      }
    }
    return nil
  }

  /// The map of any container for keys of a type.
  func map(keyedBy key: any CodingKey.Type) -> Map? {
    places.first { $0.key == ObjectIdentifier(key) }?.map
  }

  /// Adds a container for keys of a type.
  mutating func add(_ container: AnyObject, _ map: Map, keyedBy key: any CodingKey.Type) {
    places.append(Place(key: ObjectIdentifier(key), map: map, container: container))
  }

  /// Whether any container is held elsewhere.
  @inline(__always)
  var isHeld: Bool {
    mutating get {
      for index in places.indices where !isKnownUniquelyReferenced(&places[index].container) { return true }
      return false
    }
  }

  /// Removes the containers that are held elsewhere.
  @inline(never)
  mutating func takeHeld() -> [(container: AnyObject?, map: Map)] {
    var held: [(AnyObject?, Map)] = []
    for index in places.indices.reversed() where !isKnownUniquelyReferenced(&places[index].container) {
      let place = places.remove(at: index)
      held.append((place.container, place.map))
    }
    return held
  }
}
