import Esker
import ServiceLifecycle

/// Closes the store at the end of the service.
struct StoreService: Service {
  let store: LogStore

  func run() async throws {
    try? await gracefulShutdown()
    try store.close()
  }
}
