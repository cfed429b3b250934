/// The keys that something is going on with, found by bytes without allocating: most changes are reported of keys that are not here.
struct ActiveKeys {
  /// By hash. Two keys of one hash are practically never active together, but their bytes decide.
  private var buckets: [UInt64: [ActiveKey]] = [:]

  var count: Int { buckets.count }

  /// Calls `body` with an active key; nil if it is not active. The key is dropped if it is idle afterwards.
  mutating func with<R>(_ hash: UInt64, _ key: RawSpan, _ body: (inout ActiveKey) -> R) -> R? {
    guard let place = buckets.index(forKey: hash) else { return nil }
    for index in buckets.values[place].indices where buckets.values[place][index].key.bytes.hasBytes(key) {
      let result = body(&buckets.values[place][index])
      if buckets.values[place][index].isIdle { drop(index, of: hash) }
      return result
    }
    return nil
  }

  /// Calls `body` with a key, which becomes active if it was not. The key is dropped if it is idle afterwards.
  mutating func entering<R>(_ hash: UInt64, _ key: RemoteKey, _ body: (inout ActiveKey) -> R) -> R {
    if let place = buckets.index(forKey: hash) {
      for index in buckets.values[place].indices where buckets.values[place][index].key.bytes == key.bytes {
        let result = body(&buckets.values[place][index])
        if buckets.values[place][index].isIdle { drop(index, of: hash) }
        return result
      }
    }
    var active = ActiveKey(key)
    let result = body(&active)
    if !active.isIdle { buckets[hash, default: []].append(active) }
    return result
  }

  private mutating func drop(_ index: Int, of hash: UInt64) {
    guard let place = buckets.index(forKey: hash) else { return }
    if buckets.values[place].count == 1 { buckets.remove(at: place) } else { buckets.values[place].remove(at: index) }
  }
}
