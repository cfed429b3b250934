import EskerLog
import EskerTestSupport
import Testing

@testable import EskerRemote

@Suite struct EnvelopeTests {
  @Test func theBytesAreThoseOfTheFormat() {
    let version = RemoteVersion(time: 0x0102_0304_0506, count: 0x0708, writer: 0x0910_1112_1314)
    let envelope = RemoteEnvelope(version: version, expiry: 0xA1A2_A3A4_A5A6)
    let value = "v".withBytes { RemoteValue(envelope, payload: $0) }
    let bytes: [UInt8] = [
      0xEE, 0x4B, 0x01, 0x00, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09,
      0x10,
      0x11, 0x12, 0x13, 0x14, 0x76,
    ]
    #expect(value.stored == bytes)
    #expect(RemoteValue(stored: bytes) == value)
    #expect(Array(value.payload) == [0x76])
    #expect(Array(bytes[RemoteEnvelope.versionRange]) == Array(bytes[10..<24]))
    #expect("\(version)" == "1108152157446.1800@091011121314")
  }

  @Test func whatIsEncodedIsDecoded() {
    var random = SeededGenerator(announcedFor: "whatIsEncodedIsDecoded")
    for _ in 0..<2_000 {
      let version = RemoteVersion(
        time: random.next() >> 16,
        count: UInt16(truncatingIfNeeded: random.next()),
        writer: random.next() >> 16
      )
      let envelope = RemoteEnvelope(
        version: version,
        expiry: random.oneIn(3) ? 0 : random.next() >> 16
      )
      let payload = random.bytes(Int.random(in: 0...40, using: &random))
      let tags = (0..<Int.random(in: 0...3, using: &random)).map { number in
        RemoteTag(String(repeating: "\(number)", count: Int.random(in: 1...255, using: &random)), version)
      }
      let value = payload.withBytes { RemoteValue(envelope, tags: tags, payload: $0) }
      let found = RemoteValue(stored: value.stored)
      #expect(found == value && found.tags == tags && found.envelope?.flags.contains(.tagged) == !tags.isEmpty)
      #expect(found.version == version && found.expiry == envelope.expiry)
      #expect(Array(found.payload) == payload)
    }
  }

  @Test func tagsAreBetweenTheEnvelopeAndTheValue() {
    let version = RemoteVersion(time: 0x0102_0304_0506, count: 0x0708, writer: 0x0910_1112_1314)
    let tags = [RemoteTag("a", RemoteVersion(time: 1, count: 2, writer: 3)), RemoteTag("\u{E9}", version)]
    let value = "v".withBytes { RemoteValue(RemoteEnvelope(version: version), tags: tags, payload: $0) }
    let bytes: [UInt8] = [
      0xEE, 0x4B, 0x01, 0x01, 0, 0, 0, 0, 0, 0, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x10, 0x11, 0x12,
      0x13, 0x14,
      2,
      0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 1, 0x61,
      0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x10, 0x11, 0x12, 0x13, 0x14, 2, 0xC3, 0xA9,
      0x76,
    ]
    #expect(value.stored == bytes)
    let found = RemoteValue(stored: bytes)
    #expect(found == value && found.tags == tags && Array(found.payload) == [0x76])
    // A list that ends too early, is empty or has a name that is no text is foreign; no tag is lost.
    for count in RemoteEnvelope.length..<bytes.count - 1 {
      let cut = RemoteValue(stored: Array(bytes[..<count]))
      #expect(cut.envelope == nil && cut.tags.isEmpty && Array(cut.payload) == Array(bytes[..<count]))
    }
    for (place, byte) in [(24, 0), (39, 0), (40, 0xFF), (24, 3)] as [(Int, UInt8)] {
      var damaged = bytes
      damaged[place] = byte
      #expect(RemoteValue(stored: damaged).envelope == nil, "\(place)")
    }
  }

  /// What a later version says of a value might change how its bytes are read.
  @Test func aValueWithAFlagThatIsNotKnownIsForeign() {
    let version = RemoteVersion(time: 1, count: 2, writer: 3)
    for bit in 1..<8 {
      let flags = RemoteEnvelope.Flags(rawValue: 1 << UInt8(bit))
      let bytes = "v".withBytes { RemoteValue(RemoteEnvelope(version: version, flags: flags), payload: $0) }.stored
      let found = RemoteValue(stored: bytes)
      #expect(found.envelope == nil && Array(found.payload) == bytes, "bit \(bit)")
    }
  }

  /// Damaged and foreign bytes are never a crash, and an envelope only where its bytes are.
  @Test func damagedBytesAreForeignOrAnotherEnvelope() {
    var random = SeededGenerator(announcedFor: "damagedBytesAreForeignOrAnotherEnvelope")
    let clock = VersionClock(writer: random.next())
    for round in 0..<2_000 {
      let envelope = RemoteEnvelope(version: clock.next(at: UInt64(round)), expiry: random.next() >> 16)
      var bytes = "value".withBytes { RemoteValue(envelope, payload: $0) }.stored
      let place = Int.random(in: 0..<bytes.count, using: &random)
      if random.oneIn(2) {
        bytes.removeSubrange(place...)
      } else {
        bytes[place] ^= UInt8.random(in: 1...255, using: &random)
      }
      let found = RemoteValue(stored: bytes, foreignExpiry: 7)
      guard let seen = found.envelope else {
        #expect(bytes.count < RemoteEnvelope.length || place < 4)
        #expect(found.version == nil && found.expiry == 7 && Array(found.payload) == bytes)
        continue
      }
      var again: [UInt8] = []
      seen.append(to: &again)
      #expect(again == Array(bytes[..<RemoteEnvelope.length]))
    }
  }

  @Test func anExpiryThatDoesNotFitIsTheLatest() {
    let envelope = RemoteEnvelope(version: RemoteVersion(time: 1, count: 0, writer: 0), expiry: .max)
    #expect(envelope.expiry == RemoteEnvelope.latestExpiry)
  }
}
