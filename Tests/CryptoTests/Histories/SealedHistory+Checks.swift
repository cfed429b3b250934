import Esker
import EskerCrypto
import EskerLog
import EskerPlatform
import EskerTestSupport
import EskerTools
import Foundation

extension SealedHistory {
  // MARK: What it shows

  func contents(_ process: SealedProcess) throws -> State {
    var found: State = [:]
    for (space, storage) in process.storages.enumerated() {
      for key in Self.keys {
        if let text = try storage.value(forKey: key) { found[Place(space: space, key: key)] = text }
      }
    }
    let inOrder = try process.storages[1].entries(in: .all)
    let expected = Self.keys.compactMap { key in found[Place(space: 1, key: key)].map { (key, $0) } }
    guard inOrder.map(\.key) == expected.map(\.0), inOrder.map(\.entry.value) == expected.map(\.1) else {
      throw wrong("a range shows \(inOrder.map(\.key)), not \(expected.map(\.0))")
    }
    return found
  }

  /// Throws unless a process shows one of some states; a cache may have lost entries.
  func compare(_ process: SealedProcess, _ allowed: ClosedRange<Int>, _ moment: String) throws {
    let found: State
    do { found = try contents(process) } catch {
      throw error is Wrong ? error : wrong("\(moment): \(error)")
    }
    if bench.options.capacity == nil {
      guard !states[allowed].contains(found) else { return }
      let last = states[allowed.upperBound]
      let other = Set(last.keys).union(found.keys).first { last[$0] != found[$0] }
      throw wrong("\(moment): not one of \(allowed.count) states; \(other.map { "\($0)" } ?? "?")")
    }
    for (place, text) in found where !states[allowed].contains(where: { $0[place] == text }) {
      throw wrong("\(moment): \(place) is \(text.prefix(20))")
    }
  }

  func verify(_ process: SealedProcess) throws {
    // A copy of the manifest may be torn by a crash; the next edit replaces it.
    let damage = try process.store.verify().damage.filter {
      !$0.location.path.contains("manifest") && !$0.reason.contains("manifest")
    }
    guard damage.isEmpty else { throw wrong("verify: \(damage)") }
  }

  // MARK: What is in files

  /// Throws if the marker stands in a file.
  func search(_ bench: SealedBench, in directories: [String] = ["/store"], _ moment: String) throws {
    for directory in directories {
      for (name, bytes) in try bench.files(in: directory) { try search(bytes, "\(moment): \(directory)/\(name)") }
    }
  }

  func search(_ bytes: [UInt8], _ what: String) throws {
    guard Data(bytes).range(of: Data(Self.marker.utf8)) == nil else {
      throw wrong("\(what) has a value that is not sealed")
    }
  }

  // MARK: Copies and damage

  /// A backup, what is restored from it, and an export and its import show the same.
  func copy() throws {
    note("copy")
    try onCopy { bench, process in
      let expected = try contents(process)
      try process.store.backup(to: "/backup")
      try LogStore.restore(from: "/backup", to: "/restored", copying: generator.oneIn(2), host: bench.host())
      var stream: [UInt8] = []
      try process.store.exportStream { stream.append(contentsOf: $0.copied()) }
      try search(stream, "an export")
      for path in ["/restored", "/imported"] {
        let keys = keyText
        let other = try bench.start(keys, at: path)
        if path == "/imported" {
          var position = 0
          try other.store.importStream { count in
            let piece = Array(stream[position..<min(stream.count, position + count)])
            position += piece.count
            return piece
          }
        }
        let found = try contents(other)
        guard found == expected else { throw wrong("\(path) shows something else") }
        try other.store.close()
      }
      try search(bench, in: ["/store", "/backup", "/restored", "/imported"], "copies")
    }
  }

  /// Some bits of a file turn over. Whatever is shown then was written there once, and so is what a repair makes of it.
  func damage() throws {
    note("damage")
    let copy = bench.on(try bench.disk.processKilled())
    let files = try copy.files().filter { !$0.bytes.isEmpty }
    let (name, bytes) = files[Int.random(in: 0..<files.count, using: &generator)]
    var changed = bytes
    // Mostly where something stands.
    let used = bytes.lastIndex { $0 != 0 } ?? 0
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      changed[Int.random(in: 0...used, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    }
    let file = try copy.disk.open("/store/\(name)", .readWrite)
    try changed.withUnsafeBytes { try file.write($0, at: 0) }
    try file.sync()
    file.close()
    try checkDamaged(copy, "/store", name)
    do throws(StoreError) {
      try LogStore.salvage(from: "/store", to: "/repaired", options: copy.options, host: copy.host())
    } catch { return }
    try checkDamaged(copy, "/repaired", name)
    try search(copy, in: ["/store", "/repaired"], "a repair")
  }

  /// Damage, or a repair, may show an older value, whose key was thrown away.
  private func isOfAnOldKey(_ error: any Error) -> Bool {
    if case .unknownKey? = error as? SealingError { true } else { false }
  }

  private func checkDamaged(_ bench: SealedBench, _ path: String, _ name: String) throws {
    let process: SealedProcess
    do { process = try bench.start(keyText, at: path) } catch is StoreError { return } catch StorageError.store {
      return
    }
    for (space, storage) in process.storages.enumerated() {
      for key in Self.keys {
        do {
          guard let text = try storage.value(forKey: key) else { continue }
          let place = Place(space: space, key: key)
          guard written[place]?.contains(text) == true else {
            throw wrong("\(place) of \(path) is \(text.prefix(20)) with damage in \(name)")
          }
        } catch StorageError.store {
          continue
        } catch StorageError.decoding(_, _, _, let error) where isOfAnOldKey(error) {
          continue
        } catch let error as StorageError {
          throw wrong("\(error) of \(path) with damage in \(name)")
        }
      }
    }
    try? process.store.close()
  }
}
