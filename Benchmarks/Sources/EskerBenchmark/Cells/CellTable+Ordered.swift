extension Cell {
  private static let everyone: [Subject] = [.esker] + Subject.ordered
  /// Also Esker without an order: the difference is what keeping it costs.
  private static let both: [Subject] = [.esker, .eskerUnordered] + Subject.ordered

  /// Cells about keys in order, by the engines that are used with one.
  static func orderedCells(keys: Int, _ scale: Scale) -> [Cell] {
    func cell(_ workload: Workload, _ operations: Int, _ subjects: [Subject] = everyone) -> Cell {
      Cell(workload: workload, keys: keys, operations: operations, subjects: subjects)
    }
    let scans = scale.reads / 20
    return [
      cell(.scan, scans), cell(.scanKeys, scans), cell(.scanWhole, keys), cell(.scanWholeKeys, keys),
      cell(.orderedFill, keys, both + Subject.batched), cell(.orderedFillSequential, keys, both + Subject.batched),
      cell(.orderedGet, scale.reads, both), cell(.orderedOverwrite, keys * 2, both),
      cell(.prefix, scans),
    ]
  }

  /// Its keys are those that stand in the queue.
  static func queueCell(_ scale: Scale) -> Cell {
    Cell(workload: .queue, keys: 1_000, operations: scale.reads / 2, subjects: everyone)
  }
}
