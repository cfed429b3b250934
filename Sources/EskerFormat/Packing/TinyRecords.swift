/// Tiny records waiting for a cell.
struct TinyRecords {
  /// A record; its key and value are in the queue's bytes.
  struct Record {
    let header: RecordHeader
    let ordinal: Int
    let start: Int
  }

  private var bytes: [UInt8] = []
  private(set) var records: ArraySlice<Record> = []

  mutating func append(
    _ header: RecordHeader,
    _ key: ByteRun,
    _ value: ByteRun,
    ordinal: Int
  ) {
    records.append(Record(header: header, ordinal: ordinal, start: bytes.count))
    bytes.append(contentsOf: key)
    bytes.append(contentsOf: value)
  }

  mutating func removeFirst(_ count: Int) {
    records = records.dropFirst(count)
    if records.isEmpty {
      bytes.removeAll(keepingCapacity: true)
      records = []
    }
  }

  func key(_ record: Record) -> ArraySlice<UInt8> {
    bytes[record.start..<record.start + Int(record.header.keyLength)]
  }

  func value(_ record: Record) -> ArraySlice<UInt8> {
    let start = record.start + Int(record.header.keyLength)
    return bytes[start..<start + Int(record.header.valueLength)]
  }
}
