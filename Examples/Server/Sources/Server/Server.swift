import Hummingbird
import Logging

/// One instance of a small web service. As many as you like share their sessions, articles and pages:
///
///     INSTANCE=one PORT=8001 REDIS=127.0.0.1:7001,127.0.0.1:7002 DIRECTORY=one.esker swift run Server
@main
struct Server {
  static func main() async throws {
    let settings = try Settings(Environment())
    var logger = Logger(label: settings.instance)
    logger.logLevel = settings.logLevel

    let shared = try SharedStorages(settings, logger: logger)
    var application = Application(
      router: Routes(shared, instance: settings.instance).router(),
      configuration: ApplicationConfiguration(
        address: .hostname("127.0.0.1", port: settings.port),
        serverName: settings.instance
      ),
      logger: logger
    )
    application.addServices(shared)
    // Nobody is let in before the copies can be kept current, or Redis is known to be away.
    application.beforeServerStarts { [logger] in try await shared.start(logger: logger) }
    try await application.runService()
  }
}
