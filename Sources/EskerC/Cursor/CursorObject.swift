import CEsker
import EskerLog

/// A position among the entries of a keyspace.
final class CursorObject: HandleObject {
  static var kind: esker_handle_kind { ESKER_HANDLE_CURSOR }

  let state: Exclusive<State>

  /// A cursor of an instant.
  init(_ keyspace: Keyspace, _ snapshot: Snapshot, _ settings: RangeSettings) {
    let entries: any IteratorProtocol<Snapshot.Entry> =
      if let range = settings.range {
        snapshot.entries(in: keyspace, range, order: settings.order).makeIterator()
      } else {
        snapshot.entries(in: keyspace).makeIterator()
      }
    state = Exclusive(State(.instant(entries), settings))
  }

  /// A cursor of what is there as it comes along.
  init(_ keyspace: Keyspace, _ range: KeyRange, _ settings: RangeSettings) {
    state = Exclusive(State(.present(keyspace, range), settings))
  }
}

extension CursorObject {
  struct State: ~Copyable {
    enum Source {
      case instant(any IteratorProtocol<Snapshot.Entry>)
      /// The range is what was not read yet.
      case present(Keyspace, KeyRange)
      case ended
    }

    private(set) var page = CursorPage()
    private var source: Source
    private let order: KeyRange.Direction
    private let keysOnly: Bool
    /// How many entries may still be shown.
    private var remaining: UInt64
    /// How many entries the next page has at most: a cursor that is soon closed shall not have read much.
    private var pageLength = 16

    init(_ source: Source, _ settings: RangeSettings) {
      self.source = source
      order = settings.order
      keysOnly = settings.keysOnly
      remaining = settings.limit
    }
  }
}

extension CursorObject.State {
  /// No page is read on beyond so many entries, or so many bytes.
  private static let longestPage = 256
  private static let largestPage = 256 << 10

  /// The next entry, which is in the page until the next call; nil behind the last one.
  mutating func next() throws -> CursorPage.Entry? {
    guard remaining > 0 else { return nil }
    if let entry = page.next() { return shown(entry) }
    page.removeAll()
    switch source {
    case .ended: return nil
    case .present(let keyspace, let range): try readPage(keyspace, range)
    case .instant(var entries):
      // Whatever it throws, the next call goes on behind it.
      let entry = entries.next()
      source = entry == nil ? .ended : .instant(entries)
      if let entry { try copy(entry) }
    }
    return page.next().map { shown($0) }
  }

  private mutating func shown(_ entry: CursorPage.Entry) -> CursorPage.Entry {
    remaining -= 1
    return entry
  }

  private mutating func copy(_ entry: Snapshot.Entry) throws {
    let (version, expiry, length) = (entry.version.rawValue, entry.expiry, entry.valueLength)
    let isCopied =
      if keysOnly {
        try entry.withKey { key in page.append(key, nil, valueLength: length, version, expiry) }
      } else {
        try entry.withBytes { key, value in page.append(key, value, valueLength: length, version, expiry) }
      }
    guard isCopied else { throw CallFailure.noMemory }
  }

  private mutating func readPage(_ keyspace: Keyspace, _ range: KeyRange) throws {
    let length = Int(clamping: min(remaining, UInt64(pageLength)))
    pageLength = Self.longestPage
    var hasMemory = true
    var failure: StoreError?
    do throws(StoreError) {
      try keyspace.forEachEntry(in: range, order: order, limit: length) { (key, value, metadata) throws(StoreError) in
        hasMemory = page.append(
          key,
          keysOnly ? nil : value,
          valueLength: metadata.length,
          metadata.version.rawValue,
          metadata.expiry
        )
        return hasMemory && page.byteCount < Self.largestPage
      }
    } catch {
      failure = error
    }
    // What was read before it failed is shown first; then the next page fails.
    if page.count == 0 {
      if let failure { throw failure }
      guard hasMemory else { throw CallFailure.noMemory }
    }
    let mayBeMore = failure != nil || !hasMemory || page.count == length || page.byteCount >= Self.largestPage
    let last = page.lastKey
    source = mayBeMore ? .present(keyspace, order == .ascending ? range.after(last) : range.upTo(last)) : .ended
  }
}
