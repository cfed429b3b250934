import Esker
import EskerRedis
import EskerRemote
import EskerSwiftLog
import Logging
import ServiceLifecycle

struct Session: Codable, Sendable {
  var user: String
}

struct Article: Codable, Sendable {
  var text: String
  var author: String
}

/// An article made ready to be shown, which takes long.
struct Page: Codable, Sendable {
  var html: String
}

/// What all instances share by way of Redis. Each has copies in its memory, and in a log that outlives it; a copy is served only while
/// changes of it are being told, or after Redis said that it is still the same.
struct SharedStorages: Service {
  let sessions: RemoteStorage<String, Session>
  let articles: RemoteStorage<String, Article>
  let pages: RemoteStorage<String, Page>
  private let redis: RedisCluster
  private let tiers: RemoteTiers
  private let log: LogStore

  init(_ settings: Settings, logger: Logger) throws {
    // Copies can be had again: they need not be synced, and those that were not read for long make room.
    var options = Options()
    options.capacity = 256 << 20
    log = try LogStore(at: settings.directory, options: options, logger: logger)
    var configuration = RedisConfiguration(settings.redis, logger: logger)
    // After this time the service begins without it.
    configuration.startTimeout = .seconds(3)
    redis = try RedisCluster(configuration)
    tiers = RemoteTiers(redis, named: "example", prefix: "example:")

    // Whoever has logged out must not come in by an old copy, so sessions are never stale.
    var fresh = RemoteOptions()
    fresh.hardTimeout = .seconds(2)
    fresh.defaultExpiry = .seconds(3_600)
    // While Redis cannot be reached, an article of a few minutes ago is better than none.
    var lenient = fresh
    lenient.serveStale = .seconds(300)
    lenient.softTimeout = .milliseconds(200)
    lenient.defaultExpiry = nil
    sessions = try tiers.storage("sessions", of: Session.self, log: log, options: fresh)
    articles = try tiers.storage("articles", of: Article.self, log: log, options: lenient)
    pages = try tiers.storage("pages", of: Page.self, log: log, options: lenient)
  }

  /// Connects. Without Redis the service begins all the same, and serves what it may from its log; the client goes on trying.
  func start(logger: Logger) async throws {
    do {
      try await tiers.start()
    } catch {
      guard error.isPassing else { throw error }
      logger.warning("Redis cannot be reached", metadata: ["error": "\(error)"])
    }
  }

  /// Whether Redis can be asked, for those who watch the service.
  func health() async -> RedisHealth { await redis.health() }

  /// Waits until the service is to end; requests have ended by then.
  func run() async throws {
    try? await gracefulShutdown()
    await tiers.stop()
    try log.close()
  }
}
