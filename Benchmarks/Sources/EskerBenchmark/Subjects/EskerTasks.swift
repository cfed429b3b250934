import CLimits
import Dispatch
import Synchronization

/// Durable puts from many tasks on the cooperative pool's threads: each suspends until its record is on the device.
struct EskerTasks {
  var count: Int
  var operations: Int
  var valueLength: Int

  /// The seconds until the last task has ended.
  func put(_ esker: EskerStore) throws -> Double {
    let outcome = Mutex<Result<Double, any Error>?>(nil)
    let finished = DispatchSemaphore(value: 0)
    Task.detached {
      let result: Result<Double, any Error>
      do { result = .success(try await putAll(esker)) } catch { result = .failure(error) }
      outcome.withLock { $0 = result }
      finished.signal()
    }
    finished.wait()
    return try outcome.withLock { try $0?.get() ?? 0 }
  }

  private func putAll(_ esker: EskerStore) async throws -> Double {
    let each = operations / count
    let begin = bench_nanoseconds()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<count {
        group.addTask { try await putSome(esker, task * each..<(task + 1) * each) }
      }
      try await group.waitForAll()
    }
    return Double(bench_nanoseconds() - begin) * 1e-9
  }

  private func putSome(_ esker: EskerStore, _ range: Range<Int>) async throws {
    var key = [UInt8](repeating: 0, count: KeyBuffer.keyLength)
    var value = [UInt8](repeating: 0x5A, count: valueLength)
    for index in range {
      bench_key(UInt64(index), &key)
      bench_stamp(&value, UInt64(index))
      try await esker.putSuspending(value, forKey: key)
    }
  }
}
