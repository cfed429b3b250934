import Esker
import EskerRemote
import Hummingbird

/// Says 503 when Redis cannot be asked and there is no copy that may be served.
struct RemoteErrors<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request,
    context: Context,
    next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch StorageError.back(let name, let error as RemoteError) where error.isPassing {
      context.logger.warning("storage is not available", metadata: ["storage": "\(name)", "error": "\(error)"])
      throw HTTPError(.serviceUnavailable, headers: [.retryAfter: "1"])
    }
  }
}
