import CLimits
import Foundation

/// Runs the workloads on Esker.
struct EskerSubject {
  let assignment: Assignment

  init(_ assignment: Assignment) {
    self.assignment = assignment
  }

  func measure() throws -> Measurement {
    switch assignment.workload {
    case .openClean, .openCrashed, .openScanned, .openOrdered:
      var measurement = try measureOpen(assignment) { try EskerStore(at: assignment.storePath) }
      measurement.diskBytes = try DiskUse.bytes(at: assignment.storePath)
      return measurement
    case .beyondGet, .beyondAsync, .beyondMultiGet, .beyondOverwrite, .beyondYCSBB, .beyondGetMerging:
      return try BeyondMemory(assignment: assignment, path: assignment.storePath)
        .measure { try EskerStore(at: assignment.storePath) }
    case .growth: return try growth()
    case .turns: return try turns()
    case .overwriteMerging: return try overwriteMerging()
    case .getMerging: return try getMerging()
    case .oneKey, .comeAndGo: return try churn()
    case .expiring: return try expiring()
    case .capacityTrace: return try capacityTraces()
    case .capacityImages:
      return try ImageCache(assignment: assignment).measure(ImageCache.Store.init, at: assignment.storePath)
    case .packing: return try packing()
    case .documents: return try packedDocuments()
    case .hybridTrace: return try hybridTraces()
    case .hybridGet: return try hybridGet()
    case .typedSetJSON, .typedGetJSON, .typedSetBinary, .typedGetBinary: return try typed()
    default: return try measureStore()
    }
  }

  private func measureStore() throws -> Measurement {
    let esker = try EskerStore(at: assignment.storePath, isSynced: assignment.workload == .synced)
    var measurement =
      switch assignment.workload {
      case .getArray: try getArrays(esker)
      case .syncedTasks: try syncedTasks(esker)
      default: try StoreSubject(assignment: assignment, engine: esker).measure()
      }
    if assignment.workload.readPercent != nil || assignment.workload == .overwriteSteady {
      let statistics = esker.store.statistics
      measurement.figures["write amplification, fill included"] = statistics.writeAmplification
      measurement.figures["on disk at the end, of live bytes"] = statistics.spaceAmplification
    }
    if assignment.workload == .prepareCrashed { kill(getpid(), SIGKILL) }
    try esker.close()
    measurement.diskBytes = try DiskUse.bytes(at: assignment.storePath)
    return measurement
  }

  private func getArrays(_ esker: EskerStore) throws -> Measurement {
    let script = Script(assignment)
    let value = ValueBuffer(length: assignment.valueLength)
    if let stored = script.stored {
      try Puts(session: esker, keys: stored, first: 0, value: value).run(0..<stored.count)
      try esker.settle()
    }
    if let warming = script.warming { try Gets(session: esker, keys: warming, out: value).run(0..<warming.count) }
    var pace = Pace()
    try pace.run(ArrayGets(session: esker, keys: script.measured), 0..<script.measured.count)
    let measurement = Measurement(pace)
    try script.check(measurement, of: assignment.workload)
    return measurement
  }

  private func syncedTasks(_ esker: EskerStore) throws -> Measurement {
    let count = assignment.operations
    let seconds = try EskerTasks(count: 1_000, operations: count, valueLength: assignment.valueLength).put(esker)
    let script = Script(assignment)
    var tally = Tally()
    if let verifying = script.verifying {
      let out = ValueBuffer(length: assignment.valueLength)
      tally = try Gets(session: esker, keys: verifying, out: out).run(0..<verifying.count)
    }
    let measurement = Measurement(operations: count, seconds: seconds, hits: tally.hits, checksum: tally.checksum)
    try script.check(measurement, of: assignment.workload)
    return measurement
  }
}
