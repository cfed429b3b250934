/// What is known of the types met so far: `Found` for those that have one, and that the others have none.
///
/// Asking the runtime whether a type conforms to a protocol takes as long as writing several fields. Types that share a place
/// push each other out.
struct KnownTypes<Found> {
  private struct Place {
    var type: ObjectIdentifier?
    var found: Found?
  }

  private static var count: Int { 64 }

  private var places = [Place](repeating: Place(), count: Self.count)

  /// What is known of `type`; asks `find` at the first time.
  @inline(__always)
  mutating func found(for type: any Any.Type, _ find: (any Any.Type) -> Found?) -> Found? {
    let key = ObjectIdentifier(type)
    let address = UInt(bitPattern: key)
    let index = Int(bitPattern: (address >> 4 ^ address >> 10) % UInt(bitPattern: Self.count))
    if places[index].type == key { return places[index].found }
    return add(type, at: index, find)
  }

  @inline(never)
  private mutating func add(_ type: any Any.Type, at index: Int, _ find: (any Any.Type) -> Found?) -> Found? {
    let found = find(type)
    places[index] = Place(type: ObjectIdentifier(type), found: found)
    return found
  }
}
