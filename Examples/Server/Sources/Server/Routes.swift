import Esker
import EskerRemote
import HTTPTypes
import Hummingbird

/// What the service answers.
struct Routes {
  private let shared: SharedStorages
  private let instance: String

  init(_ shared: SharedStorages, instance: String) {
    self.shared = shared
    self.instance = instance
  }

  func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: RemoteErrors())
    router.get("health") { _, _ in await health() }
    router.post("login/:user") { _, context in try await logIn(context.parameters.require("user")) }
    router.post("logout") { request, _ in try await logOut(request) }
    router.get("me") { request, _ in try await session(of: request).user + "\n" }
    router.get("articles/:name") { _, context in try await show(context.parameters.require("name")) }
    router.put("articles/:name") { request, context in
      try await change(context.parameters.require("name"), request, context)
    }
    return router
  }

  /// The service does what it can without Redis, so it is well also then; whoever watches it reads how well.
  private func health() async -> String {
    let health = await shared.health()
    let seconds = health.since.duration(to: .now).components.seconds
    return "\(health.status) for \(seconds) s, \(health.leased) of \(health.servers) servers\n"
  }

  // MARK: Sessions

  /// An example: it takes everyone at their word.
  private func logIn(_ user: String) async throws -> Response {
    let id = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    try await shared.sessions.async.set(Session(user: user), forKey: id)
    var response = Response(status: .noContent)
    // Behind TLS, `secure` as well.
    response.setCookie(Cookie(name: "session", value: id, maxAge: 3_600, path: "/", httpOnly: true, sameSite: .lax))
    return response
  }

  private func logOut(_ request: Request) async throws -> HTTPResponse.Status {
    if let id = request.cookies["session"]?.value { _ = try await shared.sessions.async.removeValue(forKey: id) }
    return .noContent
  }

  private func session(of request: Request) async throws -> Session {
    guard let id = request.cookies["session"]?.value, let session = try await shared.sessions.async.value(forKey: id)
    else { throw HTTPError(.unauthorized) }
    return session
  }

  // MARK: Articles

  private func change(
    _ name: String,
    _ request: Request,
    _ context: BasicRequestContext
  ) async throws -> HTTPResponse.Status {
    let author = try await session(of: request).user
    let text = String(buffer: try await request.body.collect(upTo: context.maxUploadSize))
    try await shared.articles.async.set(Article(text: text, author: author), forKey: name)
    return .noContent
  }

  /// A page belongs to one version of its article, so it is never out of date, and no page has to be removed when an article changes.
  private func show(_ name: String) async throws -> Response {
    guard let article = try await shared.articles.find(name), let version = article.version else {
      throw HTTPError(.notFound)
    }
    let key = "\(name)@\(version)"
    if let page = try await shared.pages.find(key) {
      let isStale = article.isStale || page.isStale
      return response(page.value, isStale ? "\(instance); hit; detail=stale" : "\(instance); hit; detail=\(page.tier)")
    }
    // However many ask at the same time, this instance makes it once; if another was faster, all get that one's.
    let page = try await shared.pages.async.value(forKey: key, expiry: .after(.seconds(86_400))) {
      try await render(article.value)
    }
    return response(page, "\(instance); fwd=miss; stored")
  }

  private func render(_ article: Article) async throws -> Page {
    // As what asks a database and fills templates.
    try await Task.sleep(for: .milliseconds(300))
    return Page(html: "<p>\(article.text.escaped)</p><p>by \(article.author.escaped), made by \(instance)</p>\n")
  }

  private func response(_ page: Page, _ status: String) -> Response {
    var response = Response(
      status: .ok,
      headers: [.contentType: "text/html; charset=utf-8"],
      body: .init(byteBuffer: ByteBuffer(string: page.html))
    )
    // RFC 9211.
    if let name = HTTPField.Name("Cache-Status") { response.headers[name] = status }
    return response
  }
}

extension String {
  /// As it may stand in HTML.
  var escaped: String {
    replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
