extension Manifest {
  /// The length in bytes of everything before the payload.
  static let headerLength = 40

  /// The length in bytes of the payload before its rows.
  static let fixedLength = 112 + StoredSettings.length

  static let envelope = Envelope(
    magic: Envelope.magic("ESKRMAN1"),
    length: headerLength,
    checksumOffset: 36,
    featuresOffset: 12,
    knownFeatures: budgets
  )

  /// The flag of manifests whose keyspaces have budgets. One without is as it was before there were any.
  private static let budgets: UInt32 = 1

  /// The encoded manifest, with its history.
  ///
  /// - Complexity: O(n) in segments and keyspaces.
  public func encoded() -> [UInt8] {
    let history = History.encoded(history)
    var bytes = [UInt8](repeating: 0, count: Self.headerLength)
    bytes.reserveCapacity(Self.headerLength + Self.fixedLength + segments.count * SegmentRow.length)
    bytes.append(storeID.low)
    bytes.append(storeID.high)
    bytes.append(seed.low)
    bytes.append(seed.high)
    bytes.append(state.rawValue)
    bytes.append(0 as UInt32)
    bytes.append(durableSequence)
    bytes.append(nextSequence)
    bytes.append(storeTime)
    bytes.append(nextSegmentID)
    bytes.append(nextCheckpointID)
    bytes.append(checkpointID)
    bytes.append(UInt32(keyspaces.count))
    bytes.append(nextKeyspaceID)
    bytes.append(UInt32(segments.count))
    bytes.append(UInt32(history.count))
    bytes.append(mergedThrough)
    settings.append(to: &bytes)
    for segment in segments { segment.append(to: &bytes) }
    let hasBudgets = keyspaces.contains { $0.budget != .unlimited }
    for keyspace in keyspaces { keyspace.append(to: &bytes, hasBudget: hasBudgets) }
    bytes.store(hasBudgets ? Self.budgets : 0, at: 12)
    bytes.store(generation, at: 16)
    bytes.store(UInt64(bytes.count - Self.headerLength), at: 24)
    bytes.store(bytes.checksum(of: Self.headerLength..<bytes.count), at: 32)
    Self.envelope.seal(&bytes)
    bytes += history
    return bytes
  }

  /// Decodes the manifest at the start of a file; bytes after it are ignored.
  ///
  /// - Parameter forgetsHistory: Whether to leave out the history, which may be damaged.
  /// - Complexity: O(n log n) in segments and keyspaces; allocates no more than a small multiple of the input.
  public init(decoding file: RawSpan, forgetsHistory: Bool = false) throws(FormatError) {
    try Self.envelope.check(file)
    let payloadLength = file.u64(at: 24)
    guard payloadLength <= UInt64(file.byteCount - Self.headerLength) else {
      throw .damaged(reason: "it is truncated", offset: file.byteCount)
    }
    let bytes = file.extracting(0..<(Self.headerLength + Int(payloadLength)))
    guard bytes.checksum(of: Self.headerLength..<bytes.byteCount) == bytes.u32(at: 32) else {
      throw .damaged(reason: "the checksum of its payload does not match", offset: 32)
    }
    guard payloadLength >= UInt64(Self.fixedLength) else {
      throw .damaged(reason: "its payload is too short", offset: 24)
    }
    self.init(
      storeID: StoreID(low: bytes.u64(at: 40), high: bytes.u64(at: 48)),
      seed: HashSeed(low: bytes.u64(at: 56), high: bytes.u64(at: 64))
    )
    guard let state = State(rawValue: bytes.u32(at: 72)) else {
      throw .damaged(reason: "its state is unknown", offset: 72)
    }
    self.state = state
    try bytes.requireZeros(in: 76..<80)
    generation = try bytes.u64(at: 16, notAbove: FormatLimit.count, "its generation")
    durableSequence = try bytes.u64(at: 80, notAbove: RecordLayout.sequenceLimit, "the durable sequence number")
    nextSequence = try bytes.u64(at: 88, notAbove: RecordLayout.sequenceLimit, "the next sequence number")
    guard nextSequence > 0 else { throw .damaged(reason: "the next sequence number is 0", offset: 88) }
    storeTime = bytes.i64(at: 96)
    nextSegmentID = try bytes.u64(at: 104, notAbove: FormatLimit.count, "the next segment's identifier")
    nextCheckpointID = try bytes.u64(at: 112, notAbove: FormatLimit.count, "the next checkpoint's identifier")
    checkpointID = try bytes.u64(at: 120, notAbove: FormatLimit.count, "the checkpoint's identifier")
    nextKeyspaceID = bytes.u32(at: 132)
    mergedThrough = try bytes.u64(at: 144, notAbove: RecordLayout.sequenceLimit, "the highest merged sequence number")
    settings = try StoredSettings(decoding: bytes, at: 152)
    try decodeRows(bytes, keyspaceCount: Int(bytes.u32(at: 128)), segmentCount: Int(bytes.u32(at: 136)))
    try checkRows()
    if forgetsHistory { return }
    history = try History.rows(file, from: bytes.byteCount, length: Int(bytes.u32(at: 140)))
  }

  private mutating func decodeRows(_ bytes: RawSpan, keyspaceCount: Int, segmentCount: Int) throws(FormatError) {
    let hasBudgets = bytes.u32(at: 12) & Self.budgets != 0
    var offset = Self.headerLength + Self.fixedLength
    guard segmentCount <= (bytes.byteCount - offset) / SegmentRow.length else {
      throw .damaged(reason: "it has fewer segments than it declares", offset: 136)
    }
    segments.reserveCapacity(segmentCount)
    for _ in 0..<segmentCount {
      segments.append(try SegmentRow(decoding: bytes, at: offset))
      offset += SegmentRow.length
    }
    guard keyspaceCount <= (bytes.byteCount - offset) / KeyspaceRow.minimumLength else {
      throw .damaged(reason: "it has fewer keyspaces than it declares", offset: 128)
    }
    keyspaces.reserveCapacity(keyspaceCount)
    for _ in 0..<keyspaceCount {
      guard bytes.byteCount - offset >= KeyspaceRow.minimumLength else {
        throw .damaged(reason: "it has fewer keyspaces than it declares", offset: 128)
      }
      keyspaces.append(try KeyspaceRow(decoding: bytes, at: &offset, hasBudget: hasBudgets))
    }
    guard offset == bytes.byteCount else {
      throw .damaged(reason: "it is longer than it declares", offset: offset)
    }
  }

  /// No two segments may share an identifier or an address, no two keyspaces an identifier or a name.
  private func checkRows() throws(FormatError) {
    guard Set(segments.map(\.id)).count == segments.count else {
      throw .damaged(reason: "two segments have the same identifier", offset: 136)
    }
    var end: UInt32 = 0
    for row in segments.sorted(by: { $0.granule < $1.granule }) where row.granules > 0 {
      guard row.granule >= end else { throw .damaged(reason: "two segments share an address", offset: 136) }
      end = row.granule + row.granules
    }
    guard Set(keyspaces.map(\.id)).count == keyspaces.count,
      Set(keyspaces.map { Array($0.name.utf8) }).count == keyspaces.count
    else { throw .damaged(reason: "two keyspaces have the same identifier or name", offset: 128) }
    guard nextKeyspaceID > keyspaces.map(\.id).max() ?? 0 else {
      throw .damaged(reason: "the next keyspace's identifier is impossible: \(nextKeyspaceID)", offset: 132)
    }
  }
}
