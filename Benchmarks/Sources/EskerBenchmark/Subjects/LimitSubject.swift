import CLimits
import Foundation

/// Runs the bare loops in C.
struct LimitSubject {
  private let assignment: Assignment

  init(_ assignment: Assignment) {
    self.assignment = assignment
  }

  func measure() throws -> Measurement {
    let path = assignment.limitPath
    let count = UInt64(assignment.operations)
    let length = assignment.valueLength
    switch assignment.workload {
    case .synced where assignment.threads > 1:
      return try measurement(limit_group(path, Int32(assignment.threads), count / UInt64(assignment.threads), length))
    case .synced, .syncedTasks:
      return try measurement(limit_sync(path, min(count, 5_000), length))
    case .beyondGet, .beyondAsync, .beyondMultiGet, .beyondOverwrite, .beyondYCSBB, .beyondGetMerging:
      let threads = assignment.workload == .beyondMultiGet ? WindowGets<EskerStore>.length : assignment.threads
      return try withSegments { limit_read_device($0, $1, Int32(threads), assignment.seconds) }
    case .openScanned:
      return try scan()
    case .capacityImages:
      return try ImageCache(assignment: assignment).measure(ImageCache.Files.init, at: assignment.limitPath)
    case .hybridGet:
      return try dictionaryGet(assignment)
    case .typedSetJSON, .typedGetJSON, .typedSetBinary, .typedGetBinary:
      return try typedLimit(assignment)
    default:
      return try measureStore()
    }
  }

  private func measureStore() throws -> Measurement {
    let script = Script(assignment)
    let measured = script.measured
    let stored = UInt64(script.stored?.count ?? 0)
    let count = UInt64(measured.count)
    let bytes = (stored + count) * limit_record_length(assignment.valueLength) + 1 << 20
    guard
      let store = limit_create(
        assignment.limitPath,
        UInt64(assignment.keys) + (assignment.workload == .ycsbD ? count : 0),
        bytes,
        assignment.valueLength,
        assignment.hugePages ? 1 : 0
      )
    else {
      throw failure(errno)
    }
    defer { limit_destroy(store) }
    if let stored = script.stored {
      _ = try measurement(limit_fill(store, stored.base, UInt64(stored.count), 0))
      if case let code = limit_settle(store), code != 0 { throw failure(code) }
    }
    if let warming = script.warming { _ = limit_get(store, warming.base, UInt64(warming.count), true) }
    let result: limit_result =
      switch assignment.workload {
      case .fill, .fillSequential: limit_fill(store, measured.base, count, 0)
      case .overwrite: limit_overwrite(store, measured.base, count, stored)
      case .delete: limit_delete(store, measured.base, count)
      case .multiGet: limit_get_batched(store, measured.base, count)
      case .get where assignment.threads > 1, .getZipfian where assignment.threads > 1:
        limit_get_threaded(store, measured.base, count, Int32(assignment.threads))
      case .get, .getOverlapping, .getArray, .getZipfian, .miss, .ycsbC:
        limit_get(store, measured.base, count, assignment.workload == .getOverlapping)
      case .ycsbA, .ycsbB, .ycsbD, .ycsbF:
        limit_mix(store, measured.base, count, stored, mixture)
      default:
        throw BenchmarkError.noSuchCombination(workload: assignment.workload.rawValue, subject: Subject.limit.rawValue)
      }
    var measurement = try measurement(result)
    if let verifying = script.verifying {
      let seen = limit_get(store, verifying.base, UInt64(verifying.count), true)
      measurement.hits = Int(seen.hits)
      measurement.checksum = seen.checksum
    }
    try script.check(measurement, of: assignment.workload)
    return measurement
  }

  private var mixture: limit_mixture {
    limit_mixture(
      read_percent: assignment.workload.readPercent ?? 100,
      modifies: assignment.workload == .ycsbF
    )
  }

  private func scan() throws -> Measurement {
    try withSegments { limit_scan($0, $1, UInt64(assignment.keys), 0) }
  }

  /// Passes the paths of the segment files that Esker left behind.
  private func withSegments(
    _ body: (UnsafePointer<UnsafePointer<CChar>?>, Int) -> limit_result
  ) throws -> Measurement {
    let files = try FileManager.default.contentsOfDirectory(atPath: assignment.storePath)
    let paths = files.filter { $0.hasSuffix(".segment") }.sorted().map { assignment.storePath + "/" + $0 }
    var strings = paths.map { UnsafePointer(strdup($0)) }
    defer { strings.forEach { free(UnsafeMutablePointer(mutating: $0)) } }
    return try measurement(body(&strings, strings.count))
  }

  private func measurement(_ result: limit_result) throws -> Measurement {
    if result.failure != 0 { throw failure(result.failure) }
    return Measurement(
      operations: Int(result.operations),
      seconds: result.seconds,
      hits: Int(result.hits),
      checksum: result.checksum
    )
  }

  private func failure(_ code: Int32) -> BenchmarkError {
    .limit(workload: assignment.workload.rawValue, errno: code)
  }
}
