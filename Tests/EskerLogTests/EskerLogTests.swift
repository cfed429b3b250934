import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct LogStoreTests {
  @Test func whatWasPutIsFoundAgainAfterAClose() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    do {
      let store = try LogStore(at: path)
      for number in 0..<10_000 { try store.put("value \(number)", forKey: "key \(number)") }
      for number in 0..<10_000 {
        #expect(try store.get("key \(number)") == Array("value \(number)".utf8))
      }
      #expect(try store.get("no such key") == nil)
      #expect(try store.remove("key 7"))
      #expect(try store.get("key 7") == nil)
      #expect(try store.count() == 9_999)
      try store.close()
    }
    let store = try LogStore(at: path)
    #expect(try store.count() == 9_999)
    #expect(try store.get("key 8") == Array("value 8".utf8))
    #expect(try store.get("key 7") == nil)
    try store.put("again", forKey: "key 7")
    #expect(try store.get("key 7") == Array("again".utf8))
    #expect(try store.verify().isClean)
  }
}
