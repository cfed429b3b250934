import CLimits
import Foundation

/// Runs the workloads on another engine.
struct PeerSubject {
  let assignment: Assignment

  init(_ assignment: Assignment) {
    self.assignment = assignment
  }

  func measure() throws -> Measurement {
    if assignment.workload.isBeyondMemory {
      return try BeyondMemory(assignment: assignment, path: assignment.peerPath).measure { try open() }
    }
    if assignment.isFilled { try readThrough() }
    if assignment.workload == .documents {
      return try measureDocuments(assignment, at: assignment.peerPath) { bytes, count in
        try open(keys: count, bytes: bytes, isPacked: true)
      }
    }
    var measurement: Measurement
    if assignment.workload.isOpen {
      measurement = try measureOpen(assignment) { try open() }
    } else {
      let store = try open()
      measurement = try StoreSubject(assignment: assignment, engine: store).measure()
      if assignment.workload == .prepareCrashed { kill(getpid(), SIGKILL) }
      if [.prepareClean, .prepareOrdered, .prepareGrouped].contains(assignment.workload) { try store.settle() }
      try store.close()
    }
    measurement.diskBytes = try DiskUse.bytes(at: assignment.peerPath)
    return measurement
  }

  private func open() throws -> PeerStore {
    let keys = max(assignment.keys, assignment.workload == .ycsbD ? assignment.keys * 2 : 0)
    return try open(keys: keys, bytes: keys * (KeyBuffer.keyLength + assignment.valueLength), isPacked: false)
  }

  private func open(keys: Int, bytes: Int, isPacked: Bool) throws -> PeerStore {
    try PeerStore(
      assignment.subject,
      at: assignment.peerPath,
      keys: keys,
      bytes: bytes,
      threads: assignment.workload == .getWhileWriting ? 2 : assignment.threads,
      memory: assignment.memory,
      isSynced: assignment.workload.isSynced,
      isPacked: isPacked,
      isAscending: [.fillSequential, .orderedFillSequential, .queue].contains(assignment.workload)
    )
  }

  /// Reads files written by another process into the page cache, where they would be for the process that wrote them.
  private func readThrough() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: assignment.peerPath) {
      let code = bench_read_through(assignment.peerPath + "/" + name)
      if code != 0 && code != EISDIR { throw BenchmarkError.limit(workload: "reading files", errno: code) }
    }
  }
}
