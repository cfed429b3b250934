import CPeers
import Foundation

/// Another engine, through its C or C++ interface.
final class PeerStore: Engine {
  private let peer: OpaquePointer

  /// - Parameters:
  ///   - memory: What it may use, pages of files included; 0 for no limit.
  ///   - bytes: The total size of the keys and values there will be, for engines that size their files or caches.
  init(
    _ subject: Subject,
    at path: String,
    keys: Int,
    bytes: Int,
    threads: Int = 1,
    memory: Int = 0,
    isSynced: Bool = false,
    isPacked: Bool = false,
    isAscending: Bool = false
  ) throws {
    let name = subject.engine
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let opened = path.withCString { directory in
      var options = peer_options(
        directory: directory,
        keys: UInt64(keys),
        bytes: UInt64(bytes),
        memory: UInt64(memory),
        threads: Int32(threads),
        batch: Int32(subject.batch),
        synced: isSynced,
        packed: isPacked,
        lean: subject == .rocksdbLean,
        ascending: isAscending
      )
      return peer_open(name, &options)
    }
    guard let opened else { throw BenchmarkError.peer(String(cString: peer_message())) }
    peer = opened
  }

  func session() throws -> PeerSession {
    guard let session = peer_session_begin(peer) else { throw BenchmarkError.peer(String(cString: peer_message())) }
    return PeerSession(session: session)
  }

  func settle() throws { try expect(peer_settle(peer)) }
  func close() throws { try expect(peer_close(peer)) }
}

struct PeerSession: Session {
  fileprivate let session: OpaquePointer

  @inline(__always)
  func put(_ value: UnsafeRawBufferPointer, forKey key: UnsafeRawBufferPointer) throws {
    try expect(peer_put(session, key.baseAddress, key.count, value.baseAddress, value.count))
  }

  @inline(__always)
  func get(_ key: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
    let length = peer_get(session, key.baseAddress, key.count, buffer.baseAddress, buffer.count)
    if length >= 0 { return Int(length) }
    try expect(length == -1)
    return nil
  }

  func get(_ window: KeyWindow, into buffer: UnsafeMutableRawBufferPointer, stride: Int) throws -> Tally {
    try withUnsafeTemporaryAllocation(of: Int64.self, capacity: window.keys.count) { lengths in
      try expect(
        peer_get_many(
          session,
          window.base,
          KeyBuffer.keyLength,
          window.keys.count,
          buffer.baseAddress,
          stride,
          lengths.baseAddress
        )
      )
      var tally = Tally()
      for index in 0..<window.keys.count where lengths[index] >= 0 {
        tally.add(UnsafeRawBufferPointer(rebasing: buffer[(index * stride)...]))
      }
      return tally
    }
  }

  @inline(__always)
  func remove(_ key: UnsafeRawBufferPointer) throws {
    try expect(peer_remove(session, key.baseAddress, key.count))
  }

  func scan(_ range: ScanRange, into buffer: UnsafeMutableRawBufferPointer, stride: Int) throws -> Tally {
    var peerRange = peer_range(
      from: range.start.baseAddress,
      from_length: range.start.count,
      count: range.limit,
      prefix: range.isPrefix,
      keys_only: range.isOfKeys
    )
    var tally = Tally()
    tally.hits = Int(peer_scan(session, &peerRange, buffer.baseAddress, buffer.count, stride, &tally.checksum))
    try expect(tally.hits >= 0)
    return tally
  }

  func takeFirst(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
    let length = peer_take_first(session, buffer.baseAddress, buffer.count)
    if length >= 0 { return Int(length) }
    try expect(length == -1)
    return nil
  }

  func end() throws { try expect(peer_session_end(session)) }
}

@inline(__always)
private func expect(_ isGood: Bool) throws {
  if !isGood { throw BenchmarkError.peer(String(cString: peer_message())) }
}
