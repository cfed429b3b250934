extension Cell {
  /// Cells with stores of three or ten times the memory that the process may use.
  static func beyondCells(_ scale: Scale) -> [Cell] {
    let subjects: [Subject] = [.limit, .esker, .rocksdb, .lmdb, .kyoto, .tkrzw]
    func cell(_ workload: Workload, threads: Int = 1, times: Int = 3, _ subjects: [Subject] = subjects) -> Cell {
      let length = plainLength(of: workload)
      return Cell(
        workload: workload,
        keys: scale.beyond / (length + 48),
        operations: 1,
        subjects: subjects,
        valueLength: length,
        threads: threads,
        timesMemory: times,
        preparation: .prepareClean
      )
    }
    return [
      cell(.beyondGet), cell(.beyondGet, threads: 8), cell(.beyondAsync, threads: 64, [.limit, .esker]),
      cell(.beyondMultiGet), cell(.beyondOverwrite), cell(.beyondYCSBB), cell(.beyondYCSBB, times: 10),
      cell(.beyondGetMerging, [.esker]),
    ]
  }
}
