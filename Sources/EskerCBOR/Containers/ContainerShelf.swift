/// Codable's keyed containers that have been made before and that nobody holds, to be given out again.
///
/// Making one takes longer than writing four fields into it: Codable wraps ours in an object, and looks up three generic types
/// for that. What is given out again is the wrapped object. What it wraps refers to a `Map`, which its finder sets anew.
///
/// That nobody holds a container is told by its reference count. A map must not keep its session alive as long as it is here,
/// for the session owns the shelf.
struct ContainerShelf<Map: AnyObject> {
  private struct Place {
    let key: ObjectIdentifier
    let map: Map
    /// Codable's container, which consists of one reference. Never nil: but what is not optional would be copied to be asked
    /// whether it is the only reference.
    var container: AnyObject?
  }

  private var places: [Place] = []

  /// A container for keys of a type, with its map.
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

  /// The map of any container of keys of a type.
  func map(keyedBy key: any CodingKey.Type) -> Map? {
    places.first { $0.key == ObjectIdentifier(key) }?.map
  }

  /// Keeps a container of keys of a type.
  mutating func add(_ container: AnyObject, _ map: Map, keyedBy key: any CodingKey.Type) {
    places.append(Place(key: ObjectIdentifier(key), map: map, container: container))
  }

  /// Whether somebody holds a container.
  @inline(__always)
  var isHeld: Bool {
    mutating get {
      for index in places.indices where !isKnownUniquelyReferenced(&places[index].container) { return true }
      return false
    }
  }

  /// Takes out what somebody holds.
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
