internal import Synchronization

/// Counts durations from many threads, without a lock. Counters: relaxed.
///
/// Safety: threads may share it, since the words are atomics. They live as long as the object, and a bucket's number is
/// below `bucketCount` for every duration.
@safe
final class LatencyRecorder: @unchecked Sendable {
  /// The histogram's buckets, the sum and the maximum.
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  private static let total = Statistics.Histogram.bucketCount
  private static let maximum = total + 1

  init() {
    unsafe words = .allocate(capacity: Self.maximum + 1)
    for index in 0...Self.maximum { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  deinit {
    unsafe words.deinitialize(count: Self.maximum + 1)
    unsafe words.deallocate()
  }

  func record(nanoseconds: UInt64) {
    unsafe words[Statistics.Histogram.bucket(of: nanoseconds)].wrappingAdd(1, ordering: .relaxed)
    unsafe words[Self.total].wrappingAdd(nanoseconds, ordering: .relaxed)
    unsafe words[Self.maximum].max(nanoseconds, ordering: .relaxed)
  }

  /// The durations counted so far; one recorded concurrently may be counted only in part.
  var histogram: Statistics.Histogram {
    var result = Statistics.Histogram()
    for bucket in 0..<Statistics.Histogram.bucketCount {
      let number = unsafe words[bucket].load(ordering: .relaxed)
      if number > 0 { result.add(Int(clamping: number), to: bucket) }
    }
    let total = unsafe words[Self.total].load(ordering: .relaxed)
    let maximum = unsafe words[Self.maximum].load(ordering: .relaxed)
    result.add(0, to: 0, totalNanoseconds: total, maximumNanoseconds: maximum)
    return result
  }
}
