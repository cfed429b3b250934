import Esker
import EskerHummingbird
import EskerSwiftLog
import Hummingbird
import Logging

/// A web service of one instance, which keeps all that it has in one directory:
///
///     DIRECTORY=notes.esker PORT=8080 swift run Notes
@main
struct Notes {
  static func main() async throws {
    let environment = Environment()
    let logger = Logger(label: "notes")
    let store = try LogStore(at: environment.require("DIRECTORY"), logger: logger)
    // What must survive a power failure says so; sessions need not.
    let persist = EskerPersistDriver(
      try store.storage("persist", transformer: .bytes, memory: MemoryLimits(count: 10_000))
    )
    var application = Application(
      router: try Routes(store, persist).router(),
      configuration: ApplicationConfiguration(
        address: .hostname("127.0.0.1", port: environment.get("PORT", as: Int.self) ?? 8080)
      ),
      logger: logger
    )
    // Services end in the opposite order: the store closes when nobody needs it any more.
    application.addServices(StoreService(store: store), persist)
    try await application.runService()
  }
}
