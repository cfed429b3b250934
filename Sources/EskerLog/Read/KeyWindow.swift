internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

/// Some keys that are looked up together, under one pin.
///
/// First all their buckets are brought in, then all their records, and only then are keys compared and values delivered, so
/// that the waits for memory overlap. More than sixteen at a time bring nothing, and nothing is lost by them.
///
/// Plain data: what it refers to is kept by the keyspace whose functions work on it, so that no reference is counted.
@usableFromInline @safe
struct KeyWindow {
  @usableFromInline static var capacity: Int { 32 }

  fileprivate let life: UnsafePointer<KeyspaceCore.Life>
  fileprivate let pin: EpochPin
  fileprivate var count = 0
  fileprivate var hashes = SIMD32<UInt64>()
}

extension KeyspaceCore {
  /// Begins a window; it must be closed on the same thread.
  @usableFromInline
  func openWindow() -> KeyWindow {
    unsafe KeyWindow(life: life, pin: engine.epochs.enter())
  }

  /// Takes in the next key, and asks for its bucket.
  @usableFromInline
  func add(_ key: UnsafeRawBufferPointer, to window: inout KeyWindow) {
    let hash = unsafe window.life.pointee.hash.hash(key)
    engine.index.prefetch(hash)
    window.hashes[window.count] = hash
    window.count &+= 1
  }

  /// Asks for the records of all keys.
  @usableFromInline
  func bringIn(_ window: inout KeyWindow) {
    for position in 0..<window.count {
      var probe = engine.index.probe(window.hashes[position])
      if let address = probe.next() { engine.granules.prefetch(address) }
    }
  }

  /// The value of the key that was added at a position; nil when the key is absent or expired.
  @usableFromInline
  func value(
    of key: UnsafeRawBufferPointer,
    at position: Int,
    in window: inout KeyWindow
  ) throws(StoreError) -> UnsafeRawBufferPointer? {
    try unsafe engine.lookup(window.hashes[position], key, window.life.pointee.tag)?.record.value
  }

  /// Ends the pin. Values are not used any more.
  @usableFromInline
  func close(_ window: inout KeyWindow) {
    engine.epochs.exit(window.pin)
  }
}
