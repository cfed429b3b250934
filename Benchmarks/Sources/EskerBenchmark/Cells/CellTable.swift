extension Cell {
  /// All cells of a run, in the order of the report.
  static func table(_ scale: Scale) -> [Cell] {
    scale.keys.flatMap { storeCells(keys: $0, scale) + orderedCells(keys: $0, scale) } + [queueCell(scale)]
      + scale.valueLengths.flatMap { lengthCells($0, scale) }
      + ycsbCells(scale) + durableCells(scale) + scale.keys.flatMap(openCells) + recordedCells(scale)
      + typedCells(scale) + boundedCells(scale) + beyondCells(scale)
  }

  private static let everyone: [Subject] = [.limit, .esker] + Subject.engines
  private static let writers = everyone + [.eskerBatched] + Subject.batched

  private static func storeCells(keys: Int, _ scale: Scale) -> [Cell] {
    let reads = scale.reads
    let huge = keys >= 10_000_000
    var cells = [
      Cell(workload: .fill, keys: keys, operations: keys, subjects: writers),
      Cell(workload: .fillSequential, keys: keys, operations: keys, subjects: writers),
      Cell(workload: .get, keys: keys, operations: reads, subjects: everyone, hugePages: huge),
      Cell(workload: .getOverlapping, keys: keys, operations: reads, hugePages: huge),
      Cell(workload: .getArray, keys: keys, operations: reads, hugePages: huge),
    ]
    for threads in scale.threads {
      cells += [
        Cell(
          workload: .get,
          keys: keys,
          operations: reads * threads,
          subjects: everyone,
          hugePages: huge,
          threads: threads
        )
      ]
    }
    cells += [Cell(workload: .getZipfian, keys: keys, operations: reads, subjects: everyone, hugePages: huge)]
    for threads in scale.threads {
      cells += [
        Cell(
          workload: .getZipfian,
          keys: keys,
          operations: reads * threads,
          subjects: everyone,
          hugePages: huge,
          threads: threads
        )
      ]
    }
    return cells + [
      Cell(workload: .miss, keys: keys, operations: reads, subjects: everyone, hugePages: huge),
      Cell(workload: .multiGet, keys: keys, operations: reads, subjects: everyone, hugePages: huge),
      Cell(workload: .getWhileWriting, keys: keys, operations: reads / 2, subjects: [.esker] + Subject.engines),
      Cell(workload: .overwrite, keys: keys, operations: keys * 2, subjects: writers),
      Cell(workload: .delete, keys: keys, operations: keys / 4, subjects: writers),
    ]
  }

  /// Cells with values of other lengths than 100.
  private static func lengthCells(_ length: Int, _ scale: Scale) -> [Cell] {
    let keys = max(min(scale.volume / length, scale.keys[0] / 4), 50)
    return [
      Cell(workload: .fill, keys: keys, operations: keys, subjects: everyone, valueLength: length),
      Cell(
        workload: .get,
        keys: keys,
        operations: min(scale.reads, keys * 8),
        subjects: everyone,
        valueLength: length
      ),
    ]
  }

  private static func ycsbCells(_ scale: Scale) -> [Cell] {
    [(Workload.ycsbA, 4), (.ycsbB, 1), (.ycsbC, 1), (.ycsbD, 1), (.ycsbF, 2)].map { workload, turns in
      Cell(
        workload: workload,
        keys: scale.mixed,
        operations: scale.mixed * turns,
        subjects: everyone,
        valueLength: plainLength(of: workload)
      )
    } + [
      Cell(
        workload: .ycsbE,
        keys: scale.mixed,
        operations: scale.mixed / 4,
        subjects: [.esker] + Subject.ordered,
        valueLength: plainLength(of: .ycsbE)
      )
    ]
  }

  private static func durableCells(_ scale: Scale) -> [Cell] {
    let commits = scale.commits
    return [
      Cell(workload: .synced, keys: commits, operations: commits, subjects: everyone),
      Cell(workload: .synced, keys: commits * 8, operations: commits * 8, subjects: everyone, threads: 16),
      Cell(workload: .syncedTasks, keys: commits * 40, operations: commits * 40),
    ]
  }

  private static func openCells(keys: Int) -> [Cell] {
    [
      Cell(
        workload: .openClean,
        keys: keys,
        operations: keys,
        subjects: [.esker] + Subject.engines,
        preparation: .prepareClean
      ),
      Cell(
        workload: .openOrdered,
        keys: keys,
        operations: keys,
        subjects: [.esker] + Subject.ordered,
        preparation: .prepareOrdered
      ),
      Cell(
        workload: .openCrashed,
        keys: keys,
        operations: keys,
        subjects: [.esker] + Subject.engines,
        preparation: .prepareCrashed
      ),
      Cell(
        workload: .openScanned,
        keys: keys,
        operations: keys,
        subjects: [.limit, .esker, .leveldb, .rocksdb],
        preparation: .prepareCrashed
      ),
    ]
  }

  private static func recordedCells(_ scale: Scale) -> [Cell] {
    [
      Cell(workload: .documents, keys: 0, operations: scale.recorded, subjects: [.esker, .rocksdb, .rocksdbLean]),
      Cell(
        workload: .hybridTrace,
        keys: 0,
        operations: scale.recorded,
        subjects: [.esker],
        mostRuns: 1
      ),
      Cell(workload: .hybridGet, keys: 100_000, operations: scale.reads),
    ]
  }

  private static func typedCells(_ scale: Scale) -> [Cell] {
    [Workload.typedSetJSON, .typedGetJSON, .typedSetBinary, .typedGetBinary].map { workload in
      Cell(
        workload: workload,
        keys: scale.structs,
        operations: scale.structs,
        subjects: [.limit, .esker] + Subject.typed
      )
    }
  }
}
