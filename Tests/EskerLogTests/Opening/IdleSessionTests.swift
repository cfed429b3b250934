import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// Stores that are opened for writing and closed without a write.
@Suite struct IdleSessionTests {
  /// Only the time is kept then; the tail must be listed as it was, or the next writer begins a segment behind one that
  /// nobody ever ends.
  @Test func theTailIsWhereItWasAfterAnOpeningThatWroteNothing() throws {
    let machine = Machine()
    var written = 0
    var end: Int?
    for session in 0..<12 {
      let store = try machine.open()
      if session % 3 == 0 {
        for _ in 0..<5 {
          try store.put([UInt8](repeating: UInt8(session), count: 100), forKey: "key \(written)")
          written += 1
        }
      }
      machine.clock.advance(milliseconds: 60_000)
      try store.close()
      // Where the tail ends is listed by the session before, and is not changed by one that writes nothing.
      let tail = try #require(StoreInspection(at: machine.path, host: machine.host).segments.first)
      if session % 3 == 0 { end = tail.recordBytes }
      #expect(tail.recordBytes == end && (end ?? 0) > 0, "after session \(session)")
    }
    #expect(try machine.files(".segment").count == 1)
    #expect(try machine.open().count() == written)
  }
}
