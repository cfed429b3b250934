extension Engine {
  /// Does a write; when there is no room for it in a store of limited capacity, makes some and does it again.
  @inline(__always)
  func makingRoom<R>(_ write: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(StoreError) { return try write() } catch {
      guard env.options.capacity != nil, let needed = error.bytesLacking else {
        env.deliverEvents()
        throw error
      }
      try merger.makeRoom(for: needed, orThrow: error)
    }
    while true {
      do throws(StoreError) { return try write() } catch {
        guard let needed = error.bytesLacking else {
          env.deliverEvents()
          throw error
        }
        try merger.makeRoom(for: needed, isVolumeFull: true, orThrow: error)
      }
    }
  }
}
