package import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Keydir {
  /// The bytes of values that a dictionary is built from.
  private static let sampleLength = 4 << 20

  /// Builds a dictionary for the live values of some segments. Records that cannot be read are skipped.
  ///
  /// Safety: `inputs` keeps the mapping that a record points into, and the decompressed value outlives its closure.
  func dictionary(for inputs: [Segment]) -> [UInt8] {
    let bytes = inputs.reduce(0) { $0 + $1.recordBytes }
    let share = min(1, Double(Self.sampleLength) / Double(max(1, bytes)))
    var dictionary = PackDictionary()
    var passed = 0
    for segment in inputs {
      var damage: [StoreEvent] = []
      var walk = SegmentWalk(segment, env.seed, damage: &damage)
      while let entry = try? walk.next() {
        passed += Int(entry.size)
        // Spreads the samples evenly over all segments.
        guard entry.kind == .put, dictionary.sampledBytes < Int(share * Double(passed)),
          leads(to: segment.startUnits + entry.offset >> 3, hash: entry.keyHash),
          let record = segment.storedRecord(at: Int(entry.offset))
        else { continue }
        switch record {
        case .plain(let record, _): unsafe dictionary.add(record.value)
        case .packed(let entry, let view):
          guard let value = view.intactValue(of: entry) else { continue }
          unsafe value.withUnsafeBytes { unsafe dictionary.add($0) }
        }
      }
    }
    return dictionary.train(length: PackDictionary.length(for: inputs.reduce(0) { $0 + unpackedLiveBytes($1) }))
  }

  /// An estimate of the bytes that the live records of a segment take when they are not packed.
  private func unpackedLiveBytes(_ segment: Segment) -> Int {
    let live = granules.live(segment).bytes
    let bytes = segment.recordBytes
    guard segment.plainBytes > 0, bytes > 0 else { return live }
    return Int(Double(live) * Double(segment.plainBytes) / Double(bytes))
  }
}

extension PackedSegmentView {
  /// A record's value, decompressed; nil if the record is damaged.
  package func intactValue(of entry: PackedEntry) -> [UInt8]? {
    // Safety: the array outlives the closure, and has the length of the value.
    var value = [UInt8](repeating: 0, count: entry.valueLength)
    let damage = unsafe value.withUnsafeMutableBytes { unsafe copyValue(of: entry, into: $0, isVerified: true) }
    return damage == nil ? value : nil
  }
}
