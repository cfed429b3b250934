import CEskerShims
import EskerPlatform
import Synchronization

/// One of the two sections of an adopted image, and which of its pages are known to be intact.
///
/// A page is verified when it is first touched, by whoever touches it. The writer verifies before it changes a page, so a
/// reader that reads a half-changed page and finds its checksum wrong finds the page's bit set as well.
@safe
struct ImageSection {
  private let state: IndexState
  private let first: Int

  /// The section whose four words start at `first`.
  init(_ state: IndexState, _ first: IndexState.Word) {
    self.state = state
    self.first = first.rawValue
  }

  static func main(_ state: IndexState) -> ImageSection { ImageSection(state, .mainBase) }
  static func overflow(_ state: IndexState) -> ImageSection { ImageSection(state, .overflowBase) }

  var base: UInt64 { unsafe state.words[first].load(ordering: .acquiring) }
  var pageCount: UInt64 { unsafe state.words[first + 1].load(ordering: .acquiring) }
  private var checksums: UInt64 { unsafe state.words[first + 2].load(ordering: .acquiring) }
  private var verified: UInt64 { unsafe state.words[first + 3].load(ordering: .acquiring) }

  static let linesPerPage = UInt64(IndexImage.pageByteCount / Line.byteCount)

  /// Whether a page's contents are what the image's maker wrote, or what this index has made of that since.
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

  /// Sets the words up, before the index is shared; false when there is no memory.
  func adopt(_ bytes: UnsafeMutableRawBufferPointer, checksums: UnsafeRawBufferPointer.SubSequence) -> Bool {
    let pages = bytes.count / IndexImage.pageByteCount
    guard let bits = unsafe AnonymousMemory.allocate(byteCount: ImageSection.bitmapByteCount(pages)) else {
      return false
    }
    let table = unsafe UnsafeRawBufferPointer(rebasing: checksums)
    let values = [
      UInt(bitPattern: bytes.baseAddress), UInt(pages), UInt(bitPattern: table.baseAddress), UInt(bitPattern: bits),
    ]
    for (index, value) in values.enumerated() {
      unsafe state.words[first + index].store(UInt64(value), ordering: .releasing)
    }
    return true
  }

  func freeBitmap() {
    guard let bits = unsafe UnsafeMutableRawPointer(bitPattern: UInt(verified)) else { return }
    unsafe AnonymousMemory.free(bits, byteCount: ImageSection.bitmapByteCount(Int(pageCount)))
  }

  private static func bitmapByteCount(_ pages: Int) -> Int { (pages + 63) / 64 * 8 }

  private func word(ofPage page: UInt64) -> UnsafeMutablePointer<Atomic<UInt64>>? {
    unsafe UnsafeMutablePointer(bitPattern: UInt(verified)).map { unsafe $0 + Int(page / 64) }
  }

  private func expectedChecksum(ofPage page: UInt64) -> UInt32 {
    guard let table = unsafe UnsafeRawPointer(bitPattern: UInt(checksums)) else { return 0 }
    return unsafe UInt32(littleEndian: table.loadUnaligned(fromByteOffset: Int(page) * 4, as: UInt32.self))
  }

  /// Copied through atomic loads first, since the writer may be changing the page.
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
