import EskerFormat
import EskerPlatform

@testable import EskerLog

/// Every record that can be read in the segments of a store, found without the engine.
struct LoggedRecords {
  struct Record {
    var segment: String
    var sequence: UInt64
    var batchContinues: Bool
    var isIntact: Bool
  }

  private var records: [Record] = []
  /// Records that were being replaced.
  private(set) var holes = 0

  init(of store: String) throws {
    let files = OSFileSystem()
    // The first kill may come before there is a store.
    for name in (try? files.list(store)) ?? [] where name.hasSuffix(".segment") {
      let file = try files.open("\(store)/\(name)", .read)
      let bytes = try file.allBytes()
      file.close()
      guard let header = try? SegmentHeader(decoding: ContiguousArray(bytes).span.bytes) else { continue }
      bytes.withUnsafeBytes { add($0, segment: name, salt: header.salt) }
    }
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer, segment: String, salt: UInt32) {
    guard let base = bytes.baseAddress else { return }
    var offset = SegmentHeader.length
    while offset < bytes.count {
      let limit = bytes.count - offset
      let read = RecordHeader.read(at: base + offset, limit: limit, salt: salt, offsetUnits: UInt32(offset >> 3))
      guard case .record(let header) = read else {
        // A cut may have left readable records further on.
        offset += 8
        continue
      }
      if header.kind == .filler {
        if header.sequence == 0 { holes += 1 }
      } else if header.kind != .seal {
        let isIntact = RecordView(at: base + offset, limit: limit)?.bodyIsIntact == true
        records.append(
          Record(
            segment: segment,
            sequence: header.sequence,
            batchContinues: header.batchContinues,
            isIntact: isIntact
          )
        )
      }
      offset += header.size
    }
  }

  /// Why the records from `sequence` on are more than the beginning of one write; nil when they are just that.
  ///
  /// The beginning of a write is some records of a batch that say that it goes on, and perhaps one whose header was there
  /// before its body.
  func objection(toCuttingFrom sequence: UInt64) -> String? {
    let cut = records.filter { $0.sequence >= sequence }.sorted { $0.sequence < $1.sequence }
    guard let last = cut.last else { return "there is nothing to cut" }
    guard cut.allSatisfy({ $0.segment == last.segment }) else { return "they stand in several segments" }
    guard cut.map(\.sequence) == Array(sequence..<sequence + UInt64(cut.count)) else {
      return "they have the numbers \(cut.map(\.sequence))"
    }
    guard cut.dropLast().allSatisfy({ $0.batchContinues && $0.isIntact }) else { return "a write among them is whole" }
    return last.batchContinues || !last.isIntact ? nil : "the last is whole"
  }
}
