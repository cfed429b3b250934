import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A disk in memory that keeps every write, so that it can become what any cut of the power would have left.
///
/// What it shows is a map: for each sector, where its bytes are. Another state is another map.
final class VirtualDisk: @unchecked Sendable {
  static let sector = 512

  /// For each sector, the place of its bytes among all that was written; 0: those of the image.
  typealias Map = [UInt32]

  /// A write or a flush, in the order in which the disk did them.
  struct Entry {
    var first: Int
    /// 0 for a flush.
    var count: Int
    /// Where its bytes are.
    var place: Int
    /// Whether it was durable once it was answered.
    var isDurable: Bool
    var isFlush: Bool { count == 0 }
  }

  private struct State {
    var map: Map
    var log: [Entry] = []
    /// Sectors that were written; place 0 is not used.
    var used = 1
  }

  let sectors: Int
  private let state: Guarded<State>
  private let image: UnsafeRawPointer
  private let written: UnsafeMutableRawPointer
  /// Bytes that can be written until some are released.
  private static let room = 1 << 36

  /// A disk that shows the file at `path`, which it does not change.
  init(_ path: String) throws {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { throw PlatformError("open", path: path, code: errno) }
    defer { close(file) }
    let size = Int(lseek(file, 0, SEEK_END))
    #if os(Linux)
      let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    #else
      let flags = MAP_PRIVATE | MAP_ANONYMOUS
    #endif
    guard let image = mmap(nil, size, PROT_READ, MAP_PRIVATE, file, 0), image != MAP_FAILED,
      let written = mmap(nil, Self.room, PROT_READ | PROT_WRITE, flags, -1, 0), written != MAP_FAILED
    else { throw PlatformError("map", path: path, code: errno) }
    self.image = UnsafeRawPointer(image)
    self.written = written
    sectors = size / Self.sector
    state = Guarded(State(map: Map(repeating: 0, count: sectors)), .leaf)
  }

  deinit {
    munmap(UnsafeMutableRawPointer(mutating: image), sectors * Self.sector)
    munmap(written, Self.room)
  }

  // MARK: Requests

  /// Answers requests until the other side is gone.
  func serve(_ connection: some DiskConnection) {
    do throws(ConnectionEnded) {
      while true {
        let request = try connection.next()
        let first = request.offset / Self.sector
        switch request.kind {
        case .read(let count): try connection.answer(request, read(first, count / Self.sector))
        case .write(let bytes, let isDurable):
          write(bytes, to: first, isDurable)
          try connection.answer(request)
        case .flush:
          state.withLock { $0.log.append(Entry(first: 0, count: 0, place: 0, isDurable: true)) }
          try connection.answer(request)
        }
      }
    } catch {}
  }

  private func write(_ bytes: [UInt8], to first: Int, _ isDurable: Bool) {
    state.withLock { state in
      let count = bytes.count / Self.sector
      let place = state.used
      precondition((place + count) * Self.sector <= Self.room, "more was written than fits")
      UnsafeMutableRawBufferPointer(start: written + place * Self.sector, count: bytes.count).copyBytes(from: bytes)
      for index in 0..<count { state.map[first + index] = UInt32(place + index) }
      state.used += count
      state.log.append(Entry(first: first, count: count, place: place, isDurable: isDurable))
    }
  }

  private func read(_ first: Int, _ count: Int) -> [UInt8] {
    state.withLock { state in
      [UInt8](unsafeUninitializedCapacity: count * Self.sector) { bytes, initialized in
        for index in 0..<count {
          let place = Int(state.map[first + index])
          let source =
            place == 0 ? image + (first + index) * Self.sector : UnsafeRawPointer(written + place * Self.sector)
          let target = UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(bytes)[(index * Self.sector)...]
          )
          target.copyMemory(from: UnsafeRawBufferPointer(start: source, count: Self.sector))
        }
        initialized = count * Self.sector
      }
    }
  }

  // MARK: States

  /// Requests since the disk was given its state.
  var logged: Int { state.withLock { $0.log.count } }
  var log: [Entry] { state.withLock { $0.log } }
  /// What is there now, and how much was written up to it.
  var mark: Int { state.withLock { $0.used } }

  /// Shows another state, with an empty log.
  func show(_ map: Map) {
    state.withLock { state in
      state.map = map
      state.log = []
    }
  }

  /// Gives up the bytes of all writes since that mark.
  func release(to mark: Int) { state.withLock { $0.used = mark } }

  /// Writes a state to a file, with holes where it has zeros.
  func write(_ map: Map, to path: String) throws {
    show(map)
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0, ftruncate(file, off_t(sectors * Self.sector)) == 0 else {
      throw PlatformError("create", path: path, code: errno)
    }
    defer { close(file) }
    let step = 128
    for first in stride(from: 0, to: sectors, by: step) {
      let bytes = read(first, min(step, sectors - first))
      guard bytes.contains(where: { $0 != 0 }) else { continue }
      guard bytes.withUnsafeBytes({ pwrite(file, $0.baseAddress, $0.count, off_t(first * Self.sector)) }) == bytes.count
      else { throw PlatformError("write", path: path, code: errno) }
    }
  }
}
