extension HybridStorage: Restorable {
  func behindRestorer(_ key: Key) throws(StorageError) -> Restorer? {
    let held = try core.held(key)
    guard let restore = try restorer(of: core.back, key) else { return nil }
    return { () throws(StorageError) in
      let ticket = core.begin(held)
      defer { core.end(ticket, held, StorageRequest.Write(.remove), nil) }
      try restore()
    }
  }
}
