internal import EskerFormat
internal import EskerPlatform

extension Options {
  /// Throws if an option is invalid, before anything is created.
  func check(for path: String) throws(StoreError) {
    func require(_ isPossible: Bool, _ operation: @autoclosure () -> String) throws(StoreError) {
      guard !isPossible else { return }
      throw .failed(operation: operation(), path: path, errno: PlatformError.invalid)
    }
    if let capacity {
      try require(capacity >= Int(StoredSettings.leastCapacity), "use a capacity of \(capacity) bytes for")
    }
    if let segmentSize {
      let isPossible = StoredSettings.segmentSizes.contains(UInt64(clamping: segmentSize))
      try require(isPossible, "use a segment size of \(segmentSize) for")
    }
    try require(!merge.spaceAmplification.isNaN, "use NaN as space amplification for")
    if case .within(let time) = erasure { try require(time >= .seconds(1), "erase within \(time) in") }
    if let rate = merge.bytesPerSecond { try require(rate > 0, "merge at \(rate) bytes per second in") }
  }
}

extension Options {
  /// What the files that are made get, and with an opening for writing those that are there.
  var fileAttributes: FileAttributes {
    let protection: EskerPlatform.FileProtection? =
      switch fileProtection {
      case nil: nil
      case .complete: .complete
      case .completeUnlessOpen: .completeUnlessOpen
      case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
      case .unprotected: .unprotected
      }
    return FileAttributes(protection: protection, isExcludedFromBackup: isExcludedFromBackup)
  }
}
