import EskerPlatform
import Synchronization

/// An open file whose calls fail according to a plan.
final class FaultyFile: File {
  private let base: any File
  private let plan: FaultPlan
  private let isResting = Atomic<Bool>(false)

  init(_ base: any File, plan: FaultPlan) {
    self.base = base
    self.plan = plan
  }

  var path: String { base.path }

  func rest() {
    isResting.store(true, ordering: .relaxed)
    base.rest()
  }

  /// Simulates reopening the file if it rests.
  private func wake() throws(PlatformError) {
    if isResting.load(ordering: .relaxed), plan.givesUpResting { try plan.check(.open, path) }
  }

  func status() throws(PlatformError) -> FileStatus {
    try plan.check(.fileStatus, path)
    return try base.status()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PlatformError) -> Int {
    try wake()
    switch plan.effect(.read, path) {
    case .error(let code), .failedSync(let code, _), .partial(_, let code):
      throw PlatformError("read", path: path, code: code)
    case .split(let first) where (1..<max(1, buffer.count)).contains(first):
      let count = try base.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<first]), at: offset)
      guard count == first else { return count }
      return first + (try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[first...]), at: offset + first))
    case .flipBit(let bit):
      let count = try base.read(into: buffer, at: offset)
      if bit / 8 < count { buffer[bit / 8] ^= 1 << UInt8(bit % 8) }
      return count
    case .split, .refusesWriting, nil:
      return try base.read(into: buffer, at: offset)
    }
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(PlatformError) {
    try wake()
    switch plan.effect(.write, path) {
    case .error(let code), .failedSync(let code, _):
      throw PlatformError("write", path: path, code: code)
    case .partial(let bytes, let code):
      try base.write(UnsafeRawBufferPointer(rebasing: buffer.prefix(bytes)), at: offset)
      throw PlatformError("write", path: path, code: code)
    case .split(let first) where (1..<max(1, buffer.count)).contains(first):
      try base.write(UnsafeRawBufferPointer(rebasing: buffer[..<first]), at: offset)
      try write(UnsafeRawBufferPointer(rebasing: buffer[first...]), at: offset + first)
    case .split, .flipBit, .refusesWriting, nil:
      try base.write(buffer, at: offset)
    }
  }

  func reserve(_ length: Int) throws(PlatformError) {
    try wake()
    try plan.check(.reserve, path)
    try base.reserve(length)
  }

  func truncate(_ length: Int) throws(PlatformError) {
    try wake()
    try plan.check(.truncate, path)
    try base.truncate(length)
  }

  func sync() throws(PlatformError) {
    try wake()
    switch plan.effect(.sync, path) {
    case .error(let code), .partial(_, let code):
      throw .sync(path: path, code: code)
    case .failedSync(let code, let marksPagesClean):
      if marksPagesClean, let simulated = base as? SimulatedFile { try simulated.forgetDirtyPages() }
      throw .sync(path: path, code: code)
    case .split, .flipBit, .refusesWriting, nil:
      try base.sync()
    }
  }

  func map(capacity: Int, writable: Bool) throws(PlatformError) -> any Mapping {
    try wake()
    try plan.check(.map, path)
    return FaultyMapping(try base.map(capacity: capacity, writable: writable), path: path, plan: plan)
  }

  func mapPrivate(_ range: Range<Int>) throws(PlatformError) -> any Mapping {
    try wake()
    try plan.check(.mapPrivate, path)
    return FaultyMapping(try base.mapPrivate(range), path: path, plan: plan)
  }

  func tryLock(exclusive: Bool) throws(PlatformError) -> Bool {
    try plan.check(.tryLock, path)
    return try base.tryLock(exclusive: exclusive)
  }

  func close() {
    base.close()
  }
}

/// A mapping whose calls fail according to a plan; stores to it are not calls.
final class FaultyMapping: Mapping {
  private let real: any Mapping
  private let path: String
  private let plan: FaultPlan

  init(_ real: any Mapping, path: String, plan: FaultPlan) {
    self.real = real
    self.path = path
    self.plan = plan
  }

  var base: UnsafeMutableRawPointer { real.base }
  var length: Int { real.length }
  var faultFlag: FaultFlag { real.faultFlag }

  func renew() throws(PlatformError) { try real.renew() }

  func extend(to newLength: Int) throws(PlatformError) {
    try plan.check(.extend, path)
    try real.extend(to: newLength)
  }

  func populate(_ range: Range<Int>) throws(PlatformError) {
    try plan.check(.populate, path)
    try real.populate(range)
  }

  func populateForReading(_ range: Range<Int>) {
    real.populateForReading(range)
  }

  func detach(_ range: Range<Int>) {
    real.detach(range)
  }

  func setReadAhead(_ isWanted: Bool) { real.setReadAhead(isWanted) }
  func fetch(_ range: Range<Int>) { real.fetch(range) }
  func absentRanges(in range: Range<Int>) -> [Range<Int>] { real.absentRanges(in: range) }
  func letGo(_ range: Range<Int>) { real.letGo(range) }

  func trim() { real.trim() }

  func unmap() {
    real.unmap()
  }
}
