#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Memory taken straight from the operating system: zeroed, page-aligned, committed only where it is touched.
///
/// All functions are safe to call from any thread.
///
/// Safety: the caller owns each block it takes, and passes the same length to all of these functions; none of them keeps an
/// address. `allocate` only unmaps what lies outside the block it returns, `populate` writes to a block that nobody uses
/// yet, and advice to the kernel changes no contents.
public enum AnonymousMemory {
  /// Allocates `byteCount` bytes that read as zero, aligned to `alignment`; nil when out of memory.
  ///
  /// A page takes up memory only once it is touched. `alignment` is a power of two.
  public static func allocate(byteCount: Int, alignment: Int = MemoryPage.size) -> UnsafeMutableRawPointer? {
    let size = MemoryPage.roundUp(byteCount)
    // The address the system picks is often aligned already; only if not is more allocated and the excess unmapped.
    guard let first = unsafe map(size) else { return nil }
    if UInt(bitPattern: first) & UInt(alignment - 1) == 0 { return unsafe first }
    unsafe unmap(first, size)
    guard let start = unsafe map(size + alignment) else { return nil }
    let head = Int(UInt(alignment) &- (UInt(bitPattern: start) & UInt(alignment - 1))) & (alignment - 1)
    if head > 0 { unsafe unmap(start, head) }
    let block = unsafe start + head
    if alignment - head > 0 { unsafe unmap(block + size, alignment - head) }
    return unsafe block
  }

  /// Frees a block. `byteCount` is what it was allocated with.
  public static func free(_ block: UnsafeMutableRawPointer, byteCount: Int) {
    unsafe unmap(block, MemoryPage.roundUp(byteCount))
  }

  /// Asks for small pages in a block that is touched gradually, so that only what is touched takes up memory.
  public static func preferSmallPages(_ block: UnsafeMutableRawPointer, byteCount: Int) {
    #if !canImport(Darwin)
      unsafe advise(block, byteCount, noHugePageAdvice)
    #endif
  }

  /// Asks for huge pages in a block aligned to them. A hint.
  public static func preferHugePages(_ block: UnsafeMutableRawPointer, byteCount: Int) {
    #if !canImport(Darwin)
      unsafe advise(block, byteCount, hugePageAdvice)
    #endif
  }

  /// Commits a block that nobody uses yet, so that its first users do not fault; false on failure.
  ///
  /// Complexity: zeroes the whole block, up to a millisecond for 2 MiB.
  @discardableResult
  public static func populate(_ block: UnsafeMutableRawPointer, byteCount: Int) -> Bool {
    #if !canImport(Darwin)
      if unsafe advise(block, byteCount, populateWriteAdvice) { return true }
    #endif
    var offset = 0
    while offset < byteCount {
      unsafe block.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self)
      offset += MemoryPage.size
    }
    return true
  }

  /// Commits part of a block in one call, instead of one fault per page; false where the system cannot do that.
  ///
  /// Contents stay as they are, and other threads may use the block meanwhile. Both ends are multiples of the page size.
  @discardableResult
  public static func populateInUse(_ block: UnsafeMutableRawPointer, byteCount: Int) -> Bool {
    #if canImport(Darwin)
      return false
    #else
      return unsafe advise(block, byteCount, populateWriteAdvice)
    #endif
  }

  /// Moves a block in use from small pages into huge ones; false where that is not possible.
  ///
  /// Contents stay as they are, and other threads may read and write meanwhile: at worst they wait a fraction of a
  /// millisecond.
  @discardableResult
  public static func collapse(_ block: UnsafeMutableRawPointer, byteCount: Int) -> Bool {
    #if canImport(Darwin)
      return false
    #else
      unsafe preferHugePages(block, byteCount: byteCount)
      return unsafe advise(block, byteCount, collapseAdvice)
    #endif
  }

  private static func map(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    #if canImport(Darwin)
      let flags = MAP_PRIVATE | MAP_ANON
    #else
      let flags = MAP_PRIVATE | Int32(MAP_ANONYMOUS) | Int32(MAP_NORESERVE)
    #endif
    let block = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
    return unsafe block == MAP_FAILED ? nil : block
  }

  private static func unmap(_ block: UnsafeMutableRawPointer, _ byteCount: Int) {
    let result = unsafe munmap(block, byteCount)
    precondition(result == 0, "a block was given back that was never taken")
  }

  #if !canImport(Darwin)
    // Numbers from the kernel's interface; the C library's header may be older than the kernel.
    private static let hugePageAdvice: Int32 = 14
    private static let noHugePageAdvice: Int32 = 15
    private static let populateWriteAdvice: Int32 = 23
    private static let collapseAdvice: Int32 = 25

    @discardableResult
    private static func advise(_ block: UnsafeMutableRawPointer, _ byteCount: Int, _ advice: Int32) -> Bool {
      unsafe madvise(block, byteCount, advice) == 0
    }
  #endif
}
