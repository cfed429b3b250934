import Esker
import Hummingbird

struct User: Codable, Sendable {
  var name: String
}

/// What the service answers.
struct Routes<Persist: PersistDriver> {
  /// Whose note it is, and its number.
  typealias Place = CompositeKey<String, UInt64>

  private let persist: Persist
  private let notes: Storage<Place, String>
  private let numbers: Storage<String, UInt64>

  init(_ store: LogStore, _ persist: Persist) throws {
    self.persist = persist
    notes = try store.storage("notes")
    numbers = try store.storage("numbers")
  }

  func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.post("users/:name") { _, context in try await signUp(context.parameters.require("name")) }
    router.post("login/:name") { _, context in try await logIn(context.parameters.require("name")) }
    router.post("logout") { request, _ in try await logOut(request) }
    router.get("me") { request, _ in try await me(request) }
    router.post("notes") { request, context in try await add(request, upTo: context.maxUploadSize) }
    router.get("notes") { request, _ in try await list(request) }
    return router
  }

  // MARK: Users and sessions

  /// Of several who want the same name at the same time, one gets it.
  private func signUp(_ name: String) async throws -> HTTPResponse.Status {
    do {
      try await persist.create(key: "user/\(name)", value: User(name: name))
      return .created
    } catch let error as PersistError where error == .duplicate {
      throw HTTPError(.conflict)
    }
  }

  /// An example: it asks for no password.
  private func logIn(_ name: String) async throws -> Response {
    guard let user = try await persist.get(key: "user/\(name)", as: User.self) else { throw HTTPError(.notFound) }
    let id = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    try await persist.set(key: "session/\(id)", value: user, expires: .seconds(1800))
    var response = Response(status: .noContent)
    // Behind TLS, `secure` as well.
    response.setCookie(Cookie(name: "session", value: id, maxAge: 1800, path: "/", httpOnly: true, sameSite: .lax))
    return response
  }

  private func logOut(_ request: Request) async throws -> HTTPResponse.Status {
    if let id = request.cookies["session"]?.value { try await persist.remove(key: "session/\(id)") }
    return .noContent
  }

  private func session(of request: Request) async throws -> (user: User, ttl: Duration?) {
    guard
      let id = request.cookies["session"]?.value,
      let session = try await persist.getWithTTL(key: "session/\(id)", as: User.self)
    else { throw HTTPError(.unauthorized) }
    return (session.object, session.ttl)
  }

  private func me(_ request: Request) async throws -> String {
    let (user, ttl) = try await session(of: request)
    return "\(user.name), for \((ttl ?? .zero) > .seconds(1700) ? "half an hour" : "a while")\n"
  }

  // MARK: Notes

  /// A note that was acknowledged survives a power failure.
  private func add(_ request: Request, upTo limit: Int) async throws -> HTTPResponse.Status {
    let user = try await session(of: request).user
    let text = String(buffer: try await request.body.collect(upTo: limit))
    let number = try await numbers.async.increment(user.name)
    try await notes.async.set(text, forKey: Place(user.name, number), durability: .synced)
    return .created
  }

  /// The user's notes, in the order in which they came.
  private func list(_ request: Request) async throws -> String {
    let user = try await session(of: request).user
    let found = try await notes.async.entries(in: .prefix(user.name))
    return found.map { "\($0.key.parts.1): \($0.entry.value)\n" }.joined()
  }
}
