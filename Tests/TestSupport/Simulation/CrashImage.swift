import EskerPlatform

extension SimulatedDisk {
  /// The disk as it might be found after a power failure at this instant; this disk is unaffected.
  ///
  /// In the new disk everything that survived is durable, and nothing is open or locked. Throws if memory for a file cannot
  /// be allocated.
  public func crashImage(
    _ policy: CrashPolicy,
    using generator: inout SeededGenerator
  ) throws(PlatformError) -> SimulatedDisk {
    lock.lock()
    defer { lock.unlock() }
    var names = directories
    for change in changes where policy.keepsChange(using: &generator) { change.apply(to: &names) }
    names = names.mapValues { SimulatedDirectory(entries: $0.durable, durable: $0.durable) }

    let image = SimulatedDisk(capacity: capacity)
    image.nextNode = nextNode
    image.directories = [:]
    try image.adopt(names) { inode throws(PlatformError) in
      SimulatedInode(durable: try inode.afterPowerLoss(policy, using: &generator))
    } from: {
      files[$0]
    }
    return image
  }

  /// The disk as a killed process leaves it, before any power failure.
  ///
  /// Everything it wrote is there, anything not synced can still be lost, and nothing is open or locked. This disk is
  /// unaffected.
  public func processKilled() throws(PlatformError) -> SimulatedDisk {
    lock.lock()
    defer { lock.unlock() }
    let copy = SimulatedDisk(capacity: capacity)
    copy.nextNode = nextNode
    copy.directories = directories
    copy.changes = changes
    for (id, inode) in files.sorted(by: { $0.key < $1.key }) {
      let survivor = try inode.copy()
      survivor.links = inode.links
      copy.files[id] = survivor
    }
    return copy
  }

  /// Adopts everything that can be reached from the root in `names`. Called on a disk that is not shared yet.
  private func adopt(
    _ names: [NodeID: SimulatedDirectory],
    making survivor: (SimulatedInode) throws(PlatformError) -> SimulatedInode,
    from original: (NodeID) -> SimulatedInode?
  ) throws(PlatformError) {
    var waiting = [Self.root]
    while let id = waiting.popLast() {
      guard directories[id] == nil, let directory = names[id] else { continue }
      directories[id] = directory
      // In a fixed order, so that a seed always gives the same image.
      for (_, node) in directory.entries.sorted(by: { $0.key < $1.key }) {
        if names[node] != nil {
          waiting.append(node)
        } else if let known = files[node] {
          known.links += 1
        } else if let inode = original(node) {
          let made = try survivor(inode)
          made.links = 1
          files[node] = made
        }
      }
    }
  }
}

extension SimulatedInode {
  fileprivate func afterPowerLoss(
    _ policy: CrashPolicy,
    using generator: inout SeededGenerator
  ) throws(PlatformError) -> PageImage {
    var image = durable
    let newLength = policy.length(durable: durable.length, current: length, using: &generator)
    // Room for every page first; anything beyond the surviving length is cut off last.
    image.setLength(max(newLength, durable.length))
    for (index, page) in try dirtyPages().sorted(by: { $0.key < $1.key }) {
      image[index] = policy.page(durable: durable[index], current: page, using: &generator)
    }
    // A page written beyond the new end leaves nothing behind, not even if the file grows again.
    image.setLength(max(image.length, length))
    image.setLength(newLength)
    return image
  }
}
