/// The keys of a ``KeyTree`` as stored in a file, in memory that this process may change without changing the file.
///
/// Pages are those of the tree, each at a multiple of 4,096 bytes. A ``KeyImageBuilder`` writes them.
///
/// Safety: `owner` keeps the bytes valid, and nobody but one tree uses them. A page is used only after `page(at:below:_:)` has found that
/// nothing in it leads elsewhere.
@safe
public struct KeyImage: @unchecked Sendable {
  /// A page is not as it was written.
  public struct Damage: Error {
    /// Where it is among the bytes of the image.
    public let offset: Int
  }

  /// What a builder knows in the end.
  public struct Extent: Hashable, Sendable {
    /// The bytes of all pages.
    public var byteCount: Int
    /// Where the topmost page is.
    public var root: Int
    /// The number of keys.
    public var keyCount: Int

    /// An image of so many bytes.
    public init(byteCount: Int, root: Int, keyCount: Int) {
      self.byteCount = byteCount
      self.root = root
      self.keyCount = keyCount
    }
  }

  /// More than any tree has.
  static let mostLevels = 32

  private let bytes: UnsafeMutableRawBufferPointer
  private let extent: Extent
  private let owner: any AnyObject & Sendable

  var root: Int { extent.root }
  var keyCount: Int { extent.keyCount }
  var byteCount: Int { extent.byteCount }

  /// Describes an image.
  ///
  /// - Parameters:
  ///   - bytes: The pages, aligned to eight bytes, which may be written to.
  ///   - owner: Keeps them; released with the tree.
  public init(_ bytes: UnsafeMutableRawBufferPointer, _ extent: Extent, owner: any AnyObject & Sendable) {
    precondition(bytes.count == extent.byteCount)
    unsafe self.bytes = bytes
    self.extent = extent
    self.owner = owner
  }

  /// A page, if it is sound.
  func page(at offset: Int, below level: Int, _ fences: Fences) throws(Damage) -> KeyPage {
    guard let base = unsafe bytes.baseAddress, (0..<extent.byteCount).contains(offset),
      offset % KeyPage.leastCapacity == 0
    else {
      throw Damage(offset: offset)
    }
    let page = unsafe KeyPage(base: base + offset)
    guard page.isSound(at: offset, of: extent.byteCount, below: level, fences) else { throw Damage(offset: offset) }
    return page
  }

  /// Whether a page is one of its own.
  func owns(_ page: KeyPage) -> Bool {
    guard let base = unsafe bytes.baseAddress else { return false }
    return unsafe page.base >= base && page.base < base + extent.byteCount
  }
}
