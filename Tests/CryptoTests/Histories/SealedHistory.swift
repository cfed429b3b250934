import Esker
import EskerCrypto
import EskerLog
import EskerPlatform
import EskerTestSupport

/// A random history of sealed storages, what they must show, and what must be in no file: a text that is part of each value.
///
/// At some of its calls of the file system, and of its writes, the disk is looked at that a kill or a power failure would leave. Used by one
/// thread.
final class SealedHistory: @unchecked Sendable {
  struct Wrong: Error, CustomStringConvertible { let description: String }

  struct Place: Hashable {
    var space: Int
    var key: String
  }

  typealias State = [Place: String]

  static let marker = "WOLPERTINGER"
  static let keys = (0..<7).map { "key \($0)" }

  var bench: SealedBench
  var generator: SeededGenerator
  /// What the file of keys has: what a process gets when it begins.
  private(set) var keyText: String
  private(set) var process: SealedProcess
  /// What the storages showed after each write, with the one under way.
  private(set) var states: [State] = [[:]]
  /// The last state whose write has returned, and the last that no power failure takes back.
  private(set) var returned = 0
  private(set) var durable = 0
  /// What was done, for a message.
  private(set) var trail: [String] = []
  /// All that was ever written under each key.
  private(set) var written: [Place: Set<String>] = [:]
  private var plan = FaultPlan()
  /// One in so many calls is looked at; nil for none.
  private let rarity: Int?
  private var isLooking = false
  private var failure: (any Error)?
  private var lastKey: UInt32 = 1
  private var lastText = 0
  /// The bytes that were sealed with each key and nonce.
  private var sealed: [[UInt8]: [UInt8]] = [:]
  /// How many nonces were seen, and how many disks looked at.
  var nonces: Int { sealed.count }
  private(set) var looks = 0

  init(seed: UInt64, lookingAtOneIn rarity: Int?, isSealed: Bool = true) throws {
    var generator = SeededGenerator(seed: seed)
    var bench = SealedBench()
    bench.isSealed = isSealed
    bench.reusesSpace = generator.oneIn(2)
    bench.leavesCheckpoints = generator.oneIn(2)
    bench.options.compression = generator.oneIn(2) ? .lz4 : .off
    let isCache = generator.oneIn(5)
    bench.options.capacity = isCache ? 512 << 10 : nil
    bench.options.merge.isAutomatic = generator.oneIn(2)
    keyText = try KeyRing(id: 1, generator.oneIn(2) ? .aesGCM : .chaChaPoly).text
    self.rarity = rarity
    self.bench = bench
    self.generator = generator
    // Until there is one: on a disk of its own.
    process = try SealedBench().start(keyText)
    try restart()
  }

  /// Begins a process on the disk as it is.
  private func restart() throws {
    plan.onCall(nil)
    plan = FaultPlan()
    plan.onCall { [weak self] call in
      switch call.operation {
      case .open, .status, .list, .freeSpace, .fileStatus, .read, .map, .mapPrivate, .tryLock, .extend, .populate: break
      default: self?.look("\(call)")
      }
    }
    process = try bench.start(keyText, plan) { [weak self] in self?.look("a write") }
  }

  // MARK: Steps

  /// What is tried: everything, or what seals and crashes.
  enum Kind { case everything, sealing }

  func steps(_ count: Int, _ kind: Kind = .everything) throws {
    for _ in 0..<count {
      try step(kind)
      if let failure { throw failure }
      if kind == .everything { try compare(process, states.count - 1...states.count - 1, "afterwards") }
    }
  }

  private func step(_ kind: Kind) throws {
    // The first ones are those that seal and crash.
    switch Int.random(in: 0..<(kind == .sealing ? 80 : 100), using: &generator) {
    case 0..<26: try set()
    case 26..<32: try remove()
    case 32..<37: try update()
    case 37..<43: try batch()
    case 43..<48: try transaction()
    case 48..<51: try sync()
    case 51..<55: try rotate()
    case 55..<60: try reseal()
    case 60..<66: try crash("close") { try process.store.close() }
    case 66..<73: try crash("kill") { bench.disk = try bench.disk.processKilled() }
    case 73..<80: try powerFailure()
    case 80..<84: try quietly("merge") { try process.store.merge() }
    case 84..<86: try quietly("erase") { try process.store.eraseNow() }
    case 86..<90: try readElsewhere()
    case 90..<94: try copy()
    case 94..<97: try damage()
    default: try quietly("verify") { try verify(process) }
    }
  }

  private func quietly(_ step: String, _ body: () throws -> Void) throws {
    trail.append(step)
    try body()
  }

  private func crash(_ what: String, _ body: () throws -> Void) throws {
    try quietly(what, body)
    if what == "close" { durable = returned }
    try restart()
  }

  private func powerFailure() throws {
    trail.append("power failure")
    let policy = CrashPolicy.allCases[Int.random(in: 0..<4, using: &generator)]
    bench.disk = try bench.disk.crashImage(policy, using: &generator)
    returned = durable
    try restart()
    // What is there now is what there is.
    let found = try contents(process)
    try compare(process, durable...states.count - 1, "after a power failure")
    states = [found]
    (returned, durable) = (0, 0)
  }

  private func anyPlace() -> Place {
    Place(space: Int.random(in: 0..<3, using: &generator), key: Self.keys[Int.random(in: 0..<7, using: &generator)])
  }

  private func newText() -> String {
    lastText += 1
    let length = generator.oneIn(4) ? Int.random(in: 1...200, using: &generator) : 2
    return "\(lastText) " + String(repeating: "\(Self.marker) ", count: length) + "\(lastText)"
  }

  /// Does a write.
  ///
  /// - Parameter change: What it does to the state.
  func write(_ what: String, _ change: (inout State) -> Void, _ body: (Durability) throws -> Void) throws {
    let durability: Durability = generator.oneIn(5) ? .synced : .buffered
    trail.append(what)
    var next = states[states.count - 1]
    change(&next)
    for (place, text) in next where states[states.count - 1][place] != text { written[place, default: []].insert(text) }
    states.append(next)
    try body(durability)
    returned = states.count - 1
    if durability == .synced { durable = returned }
    try noteNonces()
  }

  private func set() throws {
    let (place, text) = (anyPlace(), newText())
    try write("set", { $0[place] = text }) { durability in
      try process.storages[place.space].set(text, forKey: place.key, durability: durability)
    }
  }

  private func remove() throws {
    let place = anyPlace()
    let isThere = states[states.count - 1][place] != nil
    // What is not there needs no sync to be gone.
    trail.append("remove")
    guard isThere else {
      try process.storages[place.space].removeValue(forKey: place.key)
      return
    }
    try write("removed", { $0[place] = nil }) { durability in
      try process.storages[place.space].removeValue(forKey: place.key, durability: durability)
    }
  }

  private func update() throws {
    // In a cache, what is read may be evicted before it is written anew.
    if bench.options.capacity != nil { return try set() }
    let (place, text) = (anyPlace(), newText())
    let known = try process.storages[place.space].value(forKey: place.key)
    let next = (known ?? "") + text
    try write("update", { $0[place] = next }) { durability in
      try process.storages[place.space].update(forKey: place.key, durability: durability) { value in
        value = (value ?? "") + text
      }
    }
  }

  private func batch() throws {
    let changes = (0..<Int.random(in: 1...5, using: &generator)).map { _ in (anyPlace(), newText()) }
    // Damage may show what a later part of the batch replaces.
    for (place, text) in changes { written[place, default: []].insert(text) }
    let change = { (state: inout State) in for (place, text) in changes { state[place] = text } }
    try write("batch", change) { durability in
      try process.store.write(durability: durability) { batch in
        for (place, text) in changes { try batch.set(text, forKey: place.key, in: process.storages[place.space]) }
      }
    }
  }

  private func transaction() throws {
    if bench.options.capacity != nil { return try batch() }
    let (from, to, text) = (anyPlace(), anyPlace(), newText())
    let known = try process.storages[from.space].value(forKey: from.key)
    try write("transaction", { $0[to] = (known ?? "") + text }) { durability in
      try process.store.transaction(durability: durability) { transaction in
        let value = try transaction.value(forKey: from.key, in: process.storages[from.space])
        try transaction.set((value ?? "") + text, forKey: to.key, in: process.storages[to.space])
      }
    }
  }

  private func sync() throws {
    trail.append("sync")
    try process.store.sync()
    durable = returned
  }

  // MARK: Keys

  /// As a program does: the file first.
  func rotate() throws {
    trail.append("rotate")
    lastKey += 1
    let next = KeyRing.Key.random(id: lastKey, algorithm: generator.oneIn(2) ? .aesGCM : .chaChaPoly)
    let ring = try KeyRing(text: keyText)
    try ring.rotate(to: next)
    keyText = ring.text
    try process.keys.rotate(to: next)
  }

  /// Seals all anew, and mostly throws the old keys away.
  private func reseal() throws {
    trail.append("reseal")
    try reseal(process)
    try noteNonces()
    if generator.oneIn(3) { return }
    trail.append("throw old keys away")
    for id in process.keys.ids.dropFirst() { try process.keys.remove(id: id) }
    keyText = process.keys.text
  }

  func reseal(_ process: SealedProcess) throws {
    guard bench.isSealed else { return }
    for name in SealedProcess.spaces {
      let result = try process.store.keyspace(name).reseal(with: process.keys)
      guard result.isComplete else { throw wrong("\(name) was not sealed anew: \(result)") }
    }
  }

  /// No key has sealed two values with one nonce.
  private func noteNonces() throws {
    guard bench.isSealed else { return }
    for name in SealedProcess.spaces {
      let space = try process.store.keyspace(name)
      for key in Self.keys {
        guard let bytes = try space.get(key) else { continue }
        if let known = sealed.updateValue(bytes, forKey: Array(bytes[2..<18])), known != bytes {
          throw wrong("a nonce of key \(keyID(bytes) ?? 0) was used twice")
        }
      }
    }
  }

  // MARK: Crashes

  private func look(_ point: String) {
    guard let rarity, !isLooking, failure == nil, generator.oneIn(rarity) else { return }
    isLooking = true
    defer { isLooking = false }
    looks += 1
    do {
      if generator.oneIn(3) {
        try recover(bench.on(try bench.disk.processKilled()), returned, "a kill at \(point)")
      } else {
        let policy = CrashPolicy.allCases[Int.random(in: 0..<4, using: &generator)]
        let image = try bench.disk.crashImage(policy, using: &generator)
        try recover(bench.on(image), policy == .keep ? returned : durable, "a power failure (\(policy)) at \(point)")
      }
    } catch { failure = error is Wrong ? error : wrong("\(point): \(error)") }
  }

  /// Whatever was there last is there, and no less than what must be; and one can go on.
  private func recover(_ bench: SealedBench, _ first: Int, _ moment: String) throws {
    try search(bench, moment)
    let other = try bench.start(keyText)
    try compare(other, first...states.count - 1, moment)
    if generator.oneIn(3) {
      let before = try contents(other)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: try reseal(other)
      case 1: try other.store.merge()
      case 2: try other.store.eraseNow()
      default: try verify(other)
      }
      let after = try contents(other)
      // A cache may have evicted something to go on.
      let isSame =
        bench.options.capacity == nil ? after == before : after.allSatisfy { before[$0.key] == $0.value }
      guard isSame else { throw wrong("what was there after \(moment) has changed by going on") }
      try search(bench, "going on after \(moment)")
    }
    try other.store.close()
  }

  // MARK: Elsewhere

  /// A reader in another process, and a snapshot while others write.
  private func readElsewhere() throws {
    trail.append("read elsewhere")
    let reader = try bench.start(keyText, readOnly: true)
    let snapshot = try process.store.snapshot()
    let before = states[states.count - 1]
    for _ in 0..<3 { try set() }
    try reader.store.refresh()
    try compare(reader, states.count - 1...states.count - 1, "in a reader")
    let names = SealedProcess.spaces
    for entry in snapshot {
      guard let space = names.firstIndex(of: entry.keyspace) else { continue }
      let key = String(decoding: try entry.key(), as: UTF8.self)
      let text = try open(try entry.value(), Place(space: space, key: key))
      guard text == before[Place(space: space, key: key)] else { throw wrong("a snapshot shows \(text.prefix(20))") }
    }
    try reader.store.close()
  }

  /// A value as bytes, opened as if it stood at that place in another store.
  private func open(_ bytes: [UInt8], _ place: Place) throws -> String {
    let other = try SealedBench().start(keyText)
    try other.store.keyspace(SealedProcess.spaces[place.space]).put(bytes, forKey: place.key)
    guard bench.isSealed else { return String(decoding: bytes, as: UTF8.self) }
    guard let text = try other.storages[place.space].value(forKey: place.key) else { throw wrong("a value is gone") }
    return text
  }

  /// A process on a copy of the disk, for what is done once.
  func onCopy(_ body: (SealedBench, SealedProcess) throws -> Void) throws {
    let copy = bench.on(try bench.disk.processKilled())
    let other = try copy.start(keyText)
    try body(copy, other)
    try other.store.close()
  }

  func note(_ step: String) { trail.append(step) }

  func wrong(_ what: String) -> Wrong {
    Wrong(description: "\(what), after \(trail.suffix(40).joined(separator: ", "))")
  }
}
