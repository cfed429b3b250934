import EskerLog
import EskerPlatform

/// A key that one thread writes and any number of threads read, and what they may find.
///
/// Each write has a version, one more than the one before. A read that begins after a write has ended finds that version or a later one;
/// it finds none that was not begun, and none that is older than what a read before it found. For one writer that is linearizability.
final class Register: Sendable {
  private struct State {
    var begun = 0
    var ended = 0
    var found = 0
    /// Versions that are removals.
    var removals: Set<Int> = []
  }

  let key: String
  private let length: Int
  private let state = Guarded(State(), .unranked)

  init(_ key: String, length: Int = 24) {
    self.key = key
    self.length = length
  }

  /// The value of a version: its number in every byte, so that parts of two versions are not taken for one.
  private func value(_ version: Int) -> [UInt8] { [UInt8](repeating: UInt8(version), count: length) }

  private func begin(removes: Bool = false) -> Int {
    state.withLock {
      $0.begun += 1
      if removes { $0.removals.insert($0.begun) }
      return $0.begun
    }
  }

  private func end() { state.withLock { $0.ended = $0.begun } }

  func put(_ store: LogStore, _ durability: Durability? = nil) throws {
    try put { try store.put($0, forKey: key, durability: durability) }
  }

  /// Writes the next version by a call of its own.
  func put(_ write: ([UInt8]) throws -> Void) throws {
    let version = begin()
    Schedule.note("puts \(key) = \(version)")
    try write(value(version))
    end()
  }

  /// Writes the next version by a task.
  func put(byTask store: LogStore, _ durability: Durability? = nil) async throws {
    let version = begin()
    Schedule.note("puts \(key) = \(version)")
    try await store.async.put(value(version), forKey: key, durability: durability)
    end()
  }

  func remove(_ store: LogStore) throws {
    try remove { _ = try store.remove(key) }
  }

  /// Removes by a call of its own.
  func remove(_ write: () throws -> Void) throws {
    let version = begin(removes: true)
    Schedule.note("removes \(key) as \(version)")
    try write()
    end()
  }

  /// Reads, and checks what was found.
  func get(_ store: LogStore) throws {
    try get { try store.get(key) }
  }

  /// Reads by a call of its own.
  func get(_ read: () throws -> [UInt8]?) throws {
    let floor = floor
    Schedule.note("gets \(key)")
    check(try read(), from: floor)
  }

  /// The oldest version that a read may find that begins now.
  var floor: Int { state.withLock { max($0.ended, $0.found) } }

  /// Checks what a read found that began when the oldest version that it may find was `floor`.
  func check(_ bytes: [UInt8]?, from floor: Int, isLatest: Bool = true) {
    let (begun, removals) = state.withLock { ($0.begun, $0.removals) }
    guard let bytes else {
      let possible = floor == 0 ? 0 : (floor...begun).first { removals.contains($0) }
      guard let possible else { Schedule.fail("\(key) is not there, though version \(floor) was") }
      Schedule.note("finds no \(key)")
      if isLatest { state.withLock { $0.found = max($0.found, possible) } }
      return
    }
    let version = Int(bytes.first ?? 0)
    expect(bytes == value(version), "the value of \(key) is torn: \(bytes.prefix(32))")
    Schedule.note("finds \(key) = \(version)")
    expect(
      version >= floor && version <= begun && !removals.contains(version),
      "\(key) has version \(version), though \(floor) was there and \(begun) was the last begun"
    )
    if isLatest { state.withLock { $0.found = max($0.found, version) } }
  }
}
