import EskerRedis
import Testing

/// Settings are checked before anything rests on them.
@Suite struct ConfigurationTests {
  private func failure(_ change: (inout RedisConfiguration) -> Void) throws -> String? {
    var configuration = RedisConfiguration([.init("127.0.0.1")])
    change(&configuration)
    do {
      _ = try RedisCluster(configuration)
      return nil
    } catch let error as RedisConfigurationError {
      return error.setting
    }
  }

  @Test func settingsThatCannotWorkAreRefused() throws {
    let forever = Duration.seconds(Int64.max)
    #expect(try failure { $0.addresses = [] } == "addresses")
    #expect(try failure { $0.addresses = [.init("127.0.0.1", port: 0)] } == "addresses")
    #expect(try failure { $0.lease = .zero } == "lease")
    #expect(try failure { $0.lease = forever } == "lease")
    #expect(try failure { $0.heartbeat = .seconds(-1) } == "heartbeat")
    #expect(try failure { $0.heartbeat = $0.lease } == "heartbeat")
    #expect(try failure { $0.silence = .zero } == "silence")
    #expect(try failure { $0.connectTimeout = forever } == "connectTimeout")
    #expect(try failure { $0.startTimeout = .seconds(-1) } == "startTimeout")
    #expect(try failure { $0.drainTimeout = .seconds(-1) } == "drainTimeout")
    #expect(try failure { $0.replyLimit = 0 } == "replyLimit")
    #expect(try failure { $0.bulkThreshold = -1 } == "bulkThreshold")
    #expect(try failure { $0.user = "shop" } == "user")
    #expect(try failure { ($0.startTimeout, $0.drainTimeout) = (forever, forever) } == nil)
    #expect(try failure { ($0.user, $0.password) = ("shop", "secret") } == nil)
  }

  @Test func theErrorSaysWhatIsAllowed() throws {
    var configuration = RedisConfiguration([.init("127.0.0.1")])
    configuration.heartbeat = .seconds(2)
    let error = #expect(throws: RedisConfigurationError.self) { try RedisServer(configuration) }
    #expect(
      error?.description
        == "RedisConfiguration.heartbeat is 2.0 seconds; it has to be shorter than the lease, which is 1.5 seconds"
    )
  }
}
