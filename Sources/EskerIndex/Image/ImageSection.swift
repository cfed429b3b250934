import CEskerShims
import EskerPlatform
import Synchronization

/// One of the two sections of an adopted image, with a record of which pages are known to be intact.
///
/// A page is verified by the thread that first touches it. The writer verifies before it changes a page, so a reader that
/// reads a half-changed page and finds a checksum mismatch also finds the page's bit set: the writer set the bit before it
/// released the word that the reader acquired.
///
/// Safety: `adopt` stores the addresses before the index is shared, and `IndexImage.isConsistent` has checked the image.
/// The image's owner keeps it until all readers are gone that may have found a chunk in it. The bitmap has a bit for each
/// page, lives as long as the index, and is only accessed as atomics. Page numbers are checked against the count.
@safe
struct ImageSection {
  private let state: IndexState
  private let baseWord: IndexState.Word
  private let countWord: IndexState.Word
  private let checksumsWord: IndexState.Word
  private let verifiedWord: IndexState.Word

  static func main(_ state: IndexState) -> ImageSection {
    ImageSection(
      state: state,
      baseWord: .mainBase,
      countWord: .mainPages,
      checksumsWord: .mainChecksums,
      verifiedWord: .mainVerified
    )
  }

  static func overflow(_ state: IndexState) -> ImageSection {
    ImageSection(
      state: state,
      baseWord: .overflowBase,
      countWord: .overflowPages,
      checksumsWord: .overflowChecksums,
      verifiedWord: .overflowVerified
    )
  }

  var base: UInt64 { state[baseWord] }
  var pageCount: UInt64 { state[countWord] }

  static let linesPerPage = UInt64(IndexImage.pageByteCount / Line.byteCount)

  /// Whether a page holds what the image was written with, or what this index has since made of it.
  func verify(_ page: UInt64) -> Bool {
    guard page < pageCount, let bits = unsafe word(ofPage: page) else { return false }
    let bit: UInt64 = 1 << (page % 64)
    if unsafe bits.pointee.load(ordering: .acquiring) & bit != 0 { return true }
    if checksum(ofPage: page) == expectedChecksum(ofPage: page) {
      unsafe bits.pointee.bitwiseOr(bit, ordering: .acquiringAndReleasing)
      return true
    }
    return unsafe bits.pointee.load(ordering: .acquiring) & bit != 0
  }

  /// Stores the words, before the index is shared; false when out of memory.
  func adopt(_ image: IndexImage.Addresses) -> Bool {
    guard let bits = unsafe AnonymousMemory.allocate(byteCount: ImageSection.bitmapByteCount(image.pageCount)) else {
      return false
    }
    state[baseWord] = UInt64(image.lines)
    state[countWord] = UInt64(image.pageCount)
    state[checksumsWord] = UInt64(image.checksums)
    state[verifiedWord] = UInt64(UInt(bitPattern: bits))
    return true
  }

  func freeBitmap() {
    guard let bits = unsafe UnsafeMutableRawPointer(bitPattern: UInt(state[verifiedWord])) else { return }
    unsafe AnonymousMemory.free(bits, byteCount: ImageSection.bitmapByteCount(Int(pageCount)))
  }

  private static func bitmapByteCount(_ pages: Int) -> Int { (pages + 63) / 64 * 8 }

  private func word(ofPage page: UInt64) -> UnsafeMutablePointer<Atomic<UInt64>>? {
    unsafe UnsafeMutablePointer(bitPattern: UInt(state[verifiedWord])).map { unsafe $0 + Int(page / 64) }
  }

  private func expectedChecksum(ofPage page: UInt64) -> UInt32 {
    guard let table = unsafe UnsafeRawPointer(bitPattern: UInt(state[checksumsWord])) else { return 0 }
    return unsafe UInt32(littleEndian: table.loadUnaligned(fromByteOffset: Int(page) * 4, as: UInt32.self))
  }

  /// Copies the page through atomic loads first, since the writer may be changing it.
  private func checksum(ofPage page: UInt64) -> UInt32 {
    let start = UInt(base + page * UInt64(IndexImage.pageByteCount))
    return unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: IndexImage.pageByteCount / 8) { copy in
      for index in 0..<Int(ImageSection.linesPerPage) {
        let line = unsafe Line(at: start + UInt(index * Line.byteCount))
        for word in 0..<8 { unsafe copy.initializeElement(at: index * 8 + word, to: line[word]) }
      }
      return unsafe esker_crc32c(0, copy.baseAddress, IndexImage.pageByteCount)
    }
  }
}
