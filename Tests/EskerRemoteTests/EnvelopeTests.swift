import EskerRemote
import Testing

@Suite struct EnvelopeTests {
  @Test func theBytesAreThoseOfTheFormat() {
    let version = RemoteVersion(time: 0x0102_0304_0506, count: 0x0708, writer: 0x0910_1112_1314)
    let value = RemoteValue(
      RemoteEnvelope(version: version, expiry: 0xA1A2_A3A4_A5A6, flags: .packed),
      payload: [UInt8]("v".utf8).span.bytes
    )
    let bytes: [UInt8] = [
      0xEE, 0x4B, 0x01, 0x02, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09,
      0x10,
      0x11, 0x12, 0x13, 0x14, 0x76,
    ]
    #expect(value.stored == bytes)
    #expect(RemoteValue(stored: bytes) == value)
    #expect(Array(value.payload) == [0x76])
  }
}
