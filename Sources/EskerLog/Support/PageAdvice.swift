internal import EskerPlatform
internal import Synchronization

/// How the kernel is to read the store's files.
///
/// Where a page is not in memory, it reads what is around it too: 128 KiB, or 8 MiB on some machines. As long as the store fits into
/// memory, that warms it up many times as fast as single pages would. Once the store is larger, a look-up needs one page of all
/// that, and the rest throws out what others need: reads are a hundred times as slow. So beyond memory look-ups ask for single pages,
/// and whatever reads a file from one end to the other says so by a ``ScanWindow``.
///
/// It is decided when the store is opened, when a segment is full, and once a second while sampled calls are as slow as a device.
/// Thread safety: any thread. Relaxed, except for ``residence``: hints by themselves; nothing is read through them.
final class PageAdvice: Sendable {
  /// The bytes of files that could be in memory; nil if unknown.
  private let room: @Sendable () -> Int?
  private let beyond = Atomic<Bool>(false)
  /// How many reviews found the store to be larger than memory.
  private let departures = Atomic<UInt64>(0)
  /// How many look-ups in a row waited for no device, as far as they were asked.
  private let atHandInARow = Atomic<Int>(0)
  /// The monotonic time of the last review.
  private let reviewed = Atomic<UInt64>(0)

  init(_ platform: Platform) {
    room = platform.pageCacheRoom
  }

  /// What is found in memory takes less, what comes from a device more.
  private static let slowNanoseconds: UInt64 = 10_000
  private static let pauseNanoseconds: UInt64 = 1_000_000_000

  /// The look-ups in a row after which a store that fits is taken to be in memory.
  private static let warm = 1_000

  /// Whether a task must ask before it looks something up, since it might wait for a device: asking takes as long as a look-up.
  @inline(__always)
  var mayWait: Bool { isBeyondMemory || atHandInARow.load(ordering: .relaxed) < Self.warm }

  /// Notes whether a look-up would have waited.
  func noteAtHand(_ isAtHand: Bool) {
    if isAtHand { atHandInARow.wrappingAdd(1, ordering: .relaxed) } else { atHandInARow.store(0, ordering: .relaxed) }
  }

  /// Whether the store is larger than what could be in memory.
  @inline(__always)
  var isBeyondMemory: Bool { beyond.load(ordering: .relaxed) }

  /// What stays the same as long as pages that were read are still in memory, as far as is known; nil while the store is larger than
  /// memory, since a page may then be read anew at any time. Only ever grows.
  @inline(__always)
  var residence: UInt64? {
    // Acquiring: who sees that the store fits again sees that it did not in between.
    beyond.load(ordering: .acquiring) ? nil : departures.load(ordering: .relaxed)
  }

  /// Whether a call that took so long is a reason for a review; true for one thread a second.
  func isDue(afterCallOf duration: UInt64, endedAt now: UInt64) -> Bool {
    guard duration >= Self.slowNanoseconds else { return false }
    atHandInARow.store(0, ordering: .relaxed)
    let last = reviewed.load(ordering: .relaxed)
    guard now > last &+ Self.pauseNanoseconds else { return false }
    return reviewed.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
  }

  /// Decides for a log and the image of an index, of so many bytes.
  ///
  /// - Returns: whether pages of the index are to be read with what is around them. They are all needed soon, so it pays as long as
  ///   they have room.
  func review(log: Int, index: Int) -> Bool {
    guard let room = room() else { return true }
    // What just fits now and then must not change it each time.
    let needed = isBeyondMemory ? (log + index) / 8 * 9 : log + index
    let isBeyond = needed > room
    if isBeyond { departures.add(1, ordering: .relaxed) }
    beyond.store(isBeyond, ordering: .releasing)
    return index <= room / 2
  }

  /// Advises the kernel about a file of the log.
  func advise(_ mapping: any Mapping) {
    mapping.setReadAhead(!isBeyondMemory)
  }
}
