import EskerTestSupport
import Testing

@testable import EskerRedis

@Suite struct ClusterTextTests {
  private func slot(_ key: String, prefix: String = "") -> UInt16 {
    HashSlot.slot(ContiguousArray(key.utf8).span.bytes, behind: HashSlot.crc(prefix.utf8))
  }

  @Test func slotsAreThoseOfTheSpecification() {
    #expect(HashSlot.crc("123456789".utf8) == 0x31C3)
    #expect(slot("foo") == 12182)
    #expect(slot("foo", prefix: "") == slot("oo", prefix: "f"))
    #expect(slot("{user1000}.following") == slot("user1000"))
    #expect(slot("foo{}{bar}") == slot("foo{}{bar}", prefix: "") && slot("{}x") != slot(""))
    #expect(slot("foo{{bar}}zap") == slot("{bar"))
    #expect(slot("foo{bar}{zap}") == slot("bar"))
    #expect(slot("x{bar}", prefix: "p:") == slot("bar"))
  }

  @Test func aWordIsFoundForEverySlot() {
    for slot in stride(from: 0, to: UInt16(HashSlot.count), by: 997) {
      #expect(self.slot("x:{\(HashSlot.word(in: slot))}") == slot)
    }
  }

  @Test func nodesAreRead() throws {
    let text = """
      07c37df 127.0.0.1:30004@31004,host4 slave e7d1eec 0 1426238317239 4 connected
      67ed2db ::1:30002@31002 master - 0 1426238316232 2 connected 5461-10922
      292f8b3 127.0.0.1:30003@31003 master,fail - 0 1426238318243 3 disconnected 10923-16383
      e7d1eec :30001@31001 myself,master - 0 0 18446744073709551615 connected 0-5459 5460 [93->-292f8b3] [77-<-67ed2db]
      00000aa :0@0 master,noaddr - 0 0 0 disconnected
      """
    let nodes = try #require(ClusterNode.parse(text, asked: RedisAddress(host: "10.0.0.1", port: 1)))
    #expect(nodes.count == 5)
    #expect(nodes[0].isReplica && nodes[0].primary == "e7d1eec")
    #expect(nodes[1].address == RedisAddress(host: "::1", port: 30002) && nodes[1].slots == [5461...10922])
    #expect(nodes[2].hasFailed && nodes[2].isPrimary)
    #expect(nodes[3].address == RedisAddress(host: "10.0.0.1", port: 1) && nodes[3].isMyself)
    #expect(nodes[3].slots == [0...5459, 5460...5460] && nodes[3].moving == [93, 77] && nodes[3].epoch == .max)
    #expect(nodes[4].address == nil && !nodes[4].isPrimary)
  }

  @Test func linesThatAreNoneAreRefused() {
    let asked = RedisAddress(host: "a", port: 1)
    #expect(ClusterNode.parse("", asked: asked) == nil)
    #expect(ClusterNode.parse("garbage", asked: asked) == nil)
    #expect(ClusterNode.parse("a 1.1.1.1:1@2 myself,master - 0 0 1 connected 0-16384", asked: asked) == nil)
    #expect(ClusterNode.parse("a 1.1.1.1:1@2 myself,master - 0 0 1 connected 5-3", asked: asked) == nil)
  }

  @Test func changedLinesNeverCrash() {
    var random = SeededGenerator(announcedFor: "changedLinesNeverCrash")
    let line = Array("e7d1eec 127.0.0.1:30001@31001 myself,master - 0 0 1 connected 0-5459 5460 [93->-292f8b3]\n".utf8)
    for _ in 0..<2_000 {
      var changed = line
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...127, using: &random)
      }
      _ = ClusterNode.parse(String(decoding: changed, as: UTF8.self), asked: RedisAddress(host: "a", port: 1))
    }
  }

  @Test func infoIsRead() {
    let info = InfoText(lines: "# Server\r\nrun_id:abc\r\ncluster_my_epoch:7\r\nexecutable:a:b\r\n")
    #expect(
      info["run_id"] == "abc" && info.number("cluster_my_epoch") == 7 && info["executable"] == "a:b" && info["x"] == nil
    )
    #expect(InfoText(words: "id=3 addr=127.0.0.1:4 name= user=x\n")["addr"] == "127.0.0.1:4")
  }
}
