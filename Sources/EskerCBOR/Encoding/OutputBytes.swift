import Foundation

/// Bytes written in sequence, into memory that is kept for the next value.
///
/// Safety: the value owns `capacity` bytes from `init` to `deinit`, of which the first `count` have been written. Whatever
/// stores after them has called `reserve` for as much. Whatever looks at them checks its offsets against `count`. Pointers
/// to the memory are only used during the call that lends them, while nothing is written.
@safe
struct OutputBytes: ~Copyable {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  private static let usualCapacity = 512

  init() {
    unsafe memory = .allocate(byteCount: Self.usualCapacity, alignment: 16)
    capacity = Self.usualCapacity
  }

  deinit {
    unsafe memory.deallocate()
  }

  /// Drops the bytes, and frees the memory if it is large.
  mutating func reset() {
    count = 0
    if capacity > 64 << 10 { self = OutputBytes() }
  }

  // MARK: Writing

  @inline(__always)
  mutating func reserve(_ extra: Int) {
    if capacity - count < extra { grow(extra) }
  }

  @inline(never)
  private mutating func grow(_ extra: Int) {
    let larger = max(capacity * 2, count + extra)
    let grown = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    unsafe grown.copyMemory(from: memory, byteCount: count)
    unsafe memory.deallocate()
    unsafe memory = grown
    capacity = larger
  }

  @inline(__always)
  mutating func writeByte(_ byte: UInt8) {
    reserve(1)
    unsafe memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Writes a first byte, then `value` in network byte order.
  @inline(__always)
  mutating func write<I: FixedWidthInteger & BitwiseCopyable>(_ initial: UInt8, _ value: I) {
    reserve(1 + MemoryLayout<I>.size)
    unsafe memory.storeBytes(of: initial, toByteOffset: count, as: UInt8.self)
    unsafe memory.storeBytes(of: value.bigEndian, toByteOffset: count + 1, as: I.self)
    count += 1 + MemoryLayout<I>.size
  }

  @inline(__always)
  mutating func append(_ buffer: UnsafeRawBufferPointer) {
    guard let source = buffer.baseAddress else { return }
    reserve(buffer.count)
    unsafe (memory + count).copyMemory(from: source, byteCount: buffer.count)
    count += buffer.count
  }

  /// Appends a first byte, then the buffer.
  @inline(__always)
  mutating func append(_ initial: UInt8, _ buffer: UnsafeRawBufferPointer) {
    guard let source = buffer.baseAddress else { return writeByte(initial) }
    reserve(1 + buffer.count)
    unsafe memory.storeBytes(of: initial, toByteOffset: count, as: UInt8.self)
    unsafe (memory + count + 1).copyMemory(from: source, byteCount: buffer.count)
    count += 1 + buffer.count
  }

  /// Appends an encoded key. Copies half of its row or all of it, which is faster than copying the exact length.
  @inline(__always)
  mutating func append(_ item: EncodedKey) {
    reserve(KeySpellings.width)
    let target = unsafe memory + count
    unsafe target.storeBytes(of: item.row.load(as: SIMD16<UInt8>.self), as: SIMD16<UInt8>.self)
    if item.length > 16 {
      unsafe target.storeBytes(
        of: item.row.load(fromByteOffset: 16, as: SIMD16<UInt8>.self),
        toByteOffset: 16,
        as: SIMD16<UInt8>.self
      )
    }
    count += item.length
  }

  /// Appends a key whose item is in its words. Copies both, which is faster than copying the exact length.
  @inline(__always)
  mutating func append(_ key: CBORKey) {
    reserve(16)
    unsafe memory.storeBytes(of: key.low.littleEndian, toByteOffset: count, as: UInt64.self)
    unsafe memory.storeBytes(of: key.high.littleEndian, toByteOffset: count + 8, as: UInt64.self)
    count += Int(min(key.length, 16))
  }

  // MARK: Changing

  /// Discards what was written from `offset` on.
  mutating func rewind(to offset: Int) {
    precondition(offset >= 0 && offset <= count)
    count = offset
  }

  /// Leaves room for one byte, to be set later.
  mutating func skipByte() {
    reserve(1)
    count += 1
  }

  @inline(__always)
  mutating func setByte(_ byte: UInt8, at offset: Int) {
    precondition(offset >= 0 && offset < count)
    unsafe memory.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
  }

  /// Overwrites bytes starting at `offset`.
  mutating func replace(at offset: Int, by bytes: [UInt8]) {
    precondition(offset >= 0 && offset <= count - bytes.count)
    unsafe UnsafeMutableRawBufferPointer(start: memory + offset, count: bytes.count).copyBytes(from: bytes)
  }

  /// Moves everything from `offset` on up by `length`, to make room for other bytes.
  mutating func makeRoom(at offset: Int, length: Int) {
    precondition(offset >= 0 && offset <= count && length >= 0)
    reserve(length)
    unsafe (memory + offset + length).copyMemory(from: memory + offset, byteCount: count - offset)
    count += length
  }

  mutating func insert(_ other: borrowing OutputBytes, at offset: Int) {
    makeRoom(at: offset, length: other.count)
    unsafe (memory + offset).copyMemory(from: other.memory, byteCount: other.count)
  }

  // MARK: Reading

  /// A reader of what has been written, valid until the next write.
  var reader: ItemReader { unsafe ItemReader(pointer) }

  /// A copy of what has been written from `offset` on.
  func copied(from offset: Int) -> [UInt8] {
    precondition(offset >= 0 && offset <= count)
    return unsafe [UInt8](UnsafeRawBufferPointer(start: memory + offset, count: count - offset))
  }

  func append(to array: inout [UInt8]) {
    unsafe array.append(contentsOf: pointer)
  }

  func copy(to target: UnsafeMutableRawPointer) {
    unsafe target.copyMemory(from: memory, byteCount: count)
  }

  /// The bytes written, valid until the next write.
  @unsafe var pointer: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: memory, count: count) }
}
