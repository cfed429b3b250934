import EskerFormat
import EskerLog
import EskerTools

extension FuzzTarget {
  /// The files of a store, with which is done whatever can be done with a store.
  static let store = FuzzTarget(
    name: "store",
    longest: 16 << 10,
    repair: { StoreFiles.repair(&$0) },
    samples: { try Sample.stores().mapValues { StoreFiles($0).encoded() } },
    run: { input in
      var image = FileImage(files: [:])
      for file in StoreFiles(decoding: input).files { image.files[file.kind.name(file.number)] = file.bytes }
      // A reader asks often for a manifest that cannot be read: somebody may be writing it.
      let isReadable = ["manifest.a", "manifest.b"].contains { name in
        image.files[name].map { (try? Manifest(decoding: $0.span.bytes)) != nil } ?? false
      }
      do {
        if isReadable {
          try StoreUse.read(image)
          try StoreUse.inspect(image)
        }
        try StoreUse.write(image)
      } catch { fatalError("\(error)") }
    }
  )
}

private enum StoreUse {
  static func read(_ image: FileImage) throws {
    let bench = Bench(try image.disk())
    guard let store = try? bench.open(FileImage.directory, { $0.readOnly = true }) else { return }
    _ = "\(store.statistics) \(store.history)"
    _ = try? store.verify()
    _ = try? store.usage()
    for name in ((try? store.keyspaceNames) ?? []) + [""] {
      guard let keyspace = try? store.keyspace(name) else { continue }
      _ = try? keyspace.get("key 1")
      _ = try? keyspace.get([Array("key 1".utf8), Array("key 2".utf8)])
      _ = try? keyspace.countExpired()
    }
    if let snapshot = try? store.snapshot() {
      for entry in snapshot { _ = try? (entry.key(), entry.value()) }
    }
    _ = try? store.backup(to: "/backup")
    _ = try? store.exportStream { _ in }
    try? store.close()
  }

  static func inspect(_ image: FileImage) throws {
    let bench = Bench(try image.disk())
    if let inspection = try? StoreInspection(at: FileImage.directory, host: bench.host) {
      for segment in inspection.segments {
        guard let records = try? inspection.records(of: segment.id) else { continue }
        for case .record(let record) in records.prefix(50) {
          _ = try? inspection.record(at: record.offset, of: segment.id)
        }
      }
      _ = try? inspection.versions(of: Array("key 1".utf8), in: "")
    }
    _ = try? LogStore.salvage(
      from: FileImage.directory,
      to: "/salvaged",
      options: bench.options(),
      host: bench.host
    )
  }

  static func write(_ image: FileImage) throws {
    let bench = Bench(try image.disk())
    guard let store = try? bench.open() else { return }
    for name in ["", "one", "new"] {
      guard let keyspace = try? store.keyspace(name) else { continue }
      if (try? keyspace.put("value", forKey: "key 1")) != nil, let value = try? keyspace.get("key 1") {
        require(value == Array("value".utf8), "what was just put is not there")
      }
      _ = try? keyspace.remove("key 2")
    }
    _ = try? store.keyspace("one").removeAll()
    _ = try? store.put([UInt8](repeating: 2, count: 70_000), forKey: "large")
    _ = try? store.merge()
    _ = try? store.sync()
    _ = try? store.verify()
    try? store.close()
    if let again = try? bench.open() { try? again.close() }
  }
}

extension FileImage {
  fileprivate init(files: [String: [UInt8]]) { self.files = files }
}
