internal import EskerPlatform
internal import Synchronization

/// Which large records a read has verified, so that the next reads need not pass over all of their bytes again.
///
/// A record of at least 4 KiB begins in a page of the address space in which no other such record begins. So there is a *mark* for each
/// page: 32 bits, which name the record by its header's checksum, and say until when they hold; `Keydir+Verification`
/// makes them. A mark that does not hold any more is of no record, and nobody has to clear it. The checksum tells a large record from
/// a small one in the same page whose length was damaged, and from one that was written there before.
///
/// Marks are kept in *spans*, 1 KiB for each MiB of addresses, which come into being with their first mark: a store of small values
/// has none. Thread safety: any thread; a mark that another thread overwrites costs one more verification.
///
/// Safety: the memory holds a word for each of `spanCount` spans; it is zero when it comes from the system, which is what an atomic
/// word of 0 looks like. Spans and pages are masked, so each is inside. A span that was made is freed by `forget`, which the granule
/// table calls once no reader can have an address in it.
@safe
struct VerifiedRecords: @unchecked Sendable {
  /// The least size in bytes of a record that is marked: the length of a page.
  static let leastSize = 4096

  private typealias Mark = Atomic<UInt32>

  /// Binary logarithms of the lengths of a page and of a span, in units of eight bytes.
  private static let pageShift: UInt64 = 9
  private static let spanShift: UInt64 = 17
  private static let pagesPerSpan = 1 << Int(spanShift - pageShift)
  private static let spanCount = 1 << (40 - Int(spanShift))
  private static let byteCount = spanCount * MemoryLayout<UInt>.size

  private let spans: UnsafeMutablePointer<Atomic<UInt>>

  init?() {
    guard let memory = unsafe AnonymousMemory.allocate(byteCount: Self.byteCount) else { return nil }
    unsafe spans = memory.bindMemory(to: Atomic<UInt>.self, capacity: Self.spanCount)
  }

  /// Frees the memory. All addresses must have been forgotten.
  func deallocate() {
    unsafe AnonymousMemory.free(UnsafeMutableRawPointer(spans), byteCount: Self.byteCount)
  }

  // MARK: Readers

  /// Whether the page in which a record begins has that mark. The caller must be pinned, as for the address.
  @inline(__always)
  func contains(_ mark: UInt32, at address: UInt64) -> Bool {
    // Relaxed: a mark says all by itself.
    guard let marks = unsafe marks(of: span(of: address)) else { return false }
    return unsafe (marks + page(of: address)).pointee.load(ordering: .relaxed) == mark
  }

  /// Marks the page in which a record begins; without memory for it, does nothing. The caller must be pinned, as for the address.
  ///
  /// - Parameter mark: not 0.
  func insert(_ mark: UInt32, at address: UInt64) {
    let span = unsafe span(of: address)
    guard let marks = unsafe marks(of: span) ?? makeMarks(in: span) else { return }
    unsafe (marks + page(of: address)).pointee.store(mark, ordering: .relaxed)
  }

  @inline(__always)
  private func span(of address: UInt64) -> UnsafeMutablePointer<Atomic<UInt>> {
    unsafe spans + (Int(truncatingIfNeeded: address >> Self.spanShift) & (Self.spanCount - 1))
  }

  @inline(__always)
  private func page(of address: UInt64) -> Int {
    Int(truncatingIfNeeded: address >> Self.pageShift) & (Self.pagesPerSpan - 1)
  }

  @inline(__always)
  private func marks(of span: UnsafeMutablePointer<Atomic<UInt>>) -> UnsafeMutablePointer<Mark>? {
    // Acquiring: the marks were cleared before they were stored.
    unsafe UnsafeMutablePointer(bitPattern: span.pointee.load(ordering: .acquiring))
  }

  /// New marks, unless another thread was faster.
  @inline(never)
  private func makeMarks(in span: UnsafeMutablePointer<Atomic<UInt>>) -> UnsafeMutablePointer<Mark>? {
    let marks = UnsafeMutablePointer<Mark>.allocate(capacity: Self.pagesPerSpan)
    for page in 0..<Self.pagesPerSpan { unsafe (marks + page).initialize(to: Mark(0)) }
    let (isStored, present) = unsafe span.pointee.compareExchange(
      expected: 0,
      desired: UInt(bitPattern: marks),
      ordering: .acquiringAndReleasing
    )
    if isStored { return unsafe marks }
    unsafe marks.deallocate()
    return unsafe UnsafeMutablePointer(bitPattern: present)
  }

  // MARK: The writer

  /// Frees the marks of `count` units from an address on. No pinned reader may still hold an address among them.
  func forget(_ address: UInt64, count: UInt64) {
    for address in stride(from: address, to: address + count, by: 1 << Int(Self.spanShift)) {
      let span = unsafe span(of: address)
      // Usually none: this does not touch memory that was never used, beyond the page that the first look brings in.
      guard let marks = unsafe marks(of: span) else { continue }
      unsafe span.pointee.store(0, ordering: .relaxed)
      unsafe marks.deallocate()
    }
  }
}
