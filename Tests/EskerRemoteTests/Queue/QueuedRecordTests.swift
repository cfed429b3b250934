import EskerLog
import Testing

@testable import EskerRemote

@Suite struct QueuedRecordTests {
  let version = RemoteVersion(time: 0x0102_0304_0506, count: 7, writer: 0x0A0B_0C0D_0E0F)

  func value(_ payload: [UInt8]) -> RemoteValue {
    payload.withBytes { RemoteValue(RemoteEnvelope(version: version, expiry: 9), payload: $0) }
  }

  @Test func aRecordIsWhatItWasMadeOf() {
    let other = RemoteVersion(time: 5, count: .max, writer: 3)
    let bases: [RemoteFound?] = [nil, .absent, .foreign, .version(other)]
    for base in bases {
      for value in [nil, value([]), value([1, 2, 3])] {
        let record = QueuedRecord(value, version: version, base: QueuedBase(found: base, expiry: 77))
        let bytes = record.bytes
        #expect(bytes.count == record.size)
        #expect(bytes.withBytes { QueuedRecord($0) } == record)
        for length in 0..<bytes.count {
          let part = bytes[..<length].withBytes { QueuedRecord($0) }
          // Only the end of the value itself cannot be missed.
          #expect(part == nil || length >= QueuedRecord.headLength + RemoteEnvelope.length)
        }
      }
    }
  }

  @Test func theBytesAreThoseThatAreDescribed() {
    let base = QueuedBase(found: .version(RemoteVersion(time: 1, count: 2, writer: 3)), expiry: 0x10)
    let record = QueuedRecord(value([0xAB]), version: version, base: base)
    let expected: [UInt8] =
      [1, 1, 1, 2, 3, 4, 5, 6, 0, 7, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 3, 0, 0, 0, 0, 0, 0x10]
      + [0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3]
      + [0xEE, 0x4B, 1, 0, 0, 0, 0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 0, 7, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0xAB]
    #expect(record.bytes == expected)
  }

  @Test func whatIsNoRecordIsRefused() {
    let good = QueuedRecord(value([1]), version: version, base: QueuedBase()).bytes
    for (offset, byte) in [(0, 2), (1, 2), (16, 4), (37, 0), (60, 1)] as [(Int, UInt8)] {
      var bytes = good
      bytes[offset] = byte
      #expect(bytes.withBytes { QueuedRecord($0) } == nil, "\(offset)")
    }
    let removal = QueuedRecord(nil, version: version, base: QueuedBase()).bytes + [0]
    #expect(removal.withBytes { QueuedRecord($0) } == nil)
  }

  @Test func whatHasExpiredIsRemovedAndExpectedToBeGone() {
    let record = QueuedRecord(value([1]), version: version, base: QueuedBase())
    let base = QueuedBase(found: .version(version), expiry: 20)
    #expect(record.intent(on: base, at: 8).value != nil)
    #expect(record.intent(on: base, at: 9).value == nil)
    #expect(record.intent(on: base, at: 19).base == .version(version))
    #expect(record.intent(on: base, at: 20).base == .absent)
    #expect(record.intent(on: QueuedBase(found: .foreign, expiry: 20), at: 20).base == .foreign)
  }

  @Test func aSuccessorIsLaterAndOfItsWriter() {
    let last = RemoteVersion(time: 5, count: .max, writer: 1)
    for version in [version, last] {
      let next = version.successor(by: 2)
      #expect(next.isLater(than: version) && next.writer == 2)
    }
  }
}
