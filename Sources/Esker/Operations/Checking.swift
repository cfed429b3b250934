extension ReadableStorage {
  /// Reads all that is stored with the types of today, changes nothing, and tells what fails, by reason and with a few of its keys: tried on
  /// a copy of a store, it shows what a new version of a program would meet.
  ///
  /// ```swift
  /// let report = try users.check()
  /// guard report.isClean else { return print(report) }
  /// ```
  ///
  /// What is checked is what is kept: the log and not the memory in front of it, through operators that turn values and keys, and of two
  /// tiers the one that decides what is there. Expired entries are left out. A log is checked as it is at one instant; reads and writes
  /// go on meanwhile, and a read-only store can be checked too. Memory does not grow with the entries, nor with how many fail.
  ///
  /// - Parameters:
  ///   - samples: how many keys of each reason are kept.
  ///   - progress: called with the share done, from 0 to 1; returns false to stop.
  /// - Throws: ``StorageError/cancelled`` if `progress` stopped it, or the task that calls was cancelled;
  ///   ``StorageError/unsupported(operation:view:)`` for a storage that can be neither listed nor looked through;
  ///   ``StorageError/store(_:)``. An entry that cannot be read is in the report, and not thrown.
  /// - Complexity: O(entries) and the decoding of each. Of a large store it reads all of the log.
  public func check(
    samples: Int = 5,
    progress: ((Double) -> Bool)? = nil
  ) throws(StorageError) -> Report.Check<Key> {
    try checked(samples: samples) { share in !Task.isCancelled && progress?(share) != false }
  }

  /// The same, as long as `goesOn` says so, which is told the share done.
  func checked(samples: Int, while goesOn: (Double) -> Bool) throws(StorageError) -> Report.Check<Key> {
    var report = Report.Check<Key>(samples: samples)
    try findAll(of: self) { (share) throws(StorageError) in
      if !goesOn(share) { throw .cancelled }
    } _: { (finding: Finding<Key, Value>) throws(StorageError) in
      switch finding.outcome {
      case .success: report.decoded += 1
      case .failure(let error): try report.add(error, key: finding.key, bytes: finding.bytes)
      }
    }
    report.sort()
    return report
  }
}
