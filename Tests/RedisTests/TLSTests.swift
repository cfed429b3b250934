import EskerRedis
import EskerRemote
import EskerTestSupport
import NIOSSL
import Testing

/// A single server behind TLS, with certificates made by openssl for the test.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct TLSTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    for authority in ["right", "wrong"] {
      try openssl(
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "\(authority).key",
        "-out",
        "\(authority).crt",
        "-days",
        "2",
        "-subj",
        "/CN=\(authority)"
      )
    }
    try certificate("server", for: "IP:127.0.0.1")
    try certificate("other", for: "DNS:elsewhere.test")
  }

  private func openssl(_ words: String...) throws {
    let (output, status) = run(["openssl"] + words, in: directory.path)
    if status != 0 { throw TestFailure(output) }
  }

  private func certificate(_ name: String, for subject: String) throws {
    try openssl(
      "req",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-keyout",
      "\(name).key",
      "-out",
      "\(name).csr",
      "-subj",
      "/CN=\(name)"
    )
    let (output, status) = run(
      [
        "sh", "-c",
        "echo subjectAltName=\(subject) > \(name).ext; openssl x509 -req -in \(name).csr -CA right.crt -CAkey right.key "
          + "-CAcreateserial -days 2 -extfile \(name).ext -out \(name).crt",
      ],
      in: directory.path
    )
    if status != 0 { throw TestFailure(output) }
  }

  private func start(_ certificate: String) throws -> (server: TestServer, port: Int) {
    let port = freePort()
    let server = try TestServer([
      "--tls-port", "\(port)", "--tls-cert-file", directory.appending("\(certificate).crt"), "--tls-key-file",
      directory.appending("\(certificate).key"), "--tls-ca-cert-file", directory.appending("right.crt"),
      "--tls-auth-clients", "no",
    ])
    return (server, port)
  }

  private func client(_ port: Int, trusting authority: String, name: String? = nil) async throws -> TestClient {
    try await TestClient(server: port) {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.trustRoots = .file(directory.appending("\(authority).crt"))
      $0.tls = tls
      $0.tlsName = name
      $0.startTimeout = .seconds(2)
    }
  }

  @Test func theRightCertificateIsTaken() async throws {
    let (server, port) = try start("server")
    let client = try await client(port, trusting: "right")
    let value = TestClient.value([UInt8](repeating: 3, count: 200_000))
    try await client.set("a", value)
    #expect(try await client.get("a") == value)
    server.cli("SET", "t:b", "x")
    try await client.until("the change") { client.sink.changes() == ["b"] }
    await client.store.stop()
  }

  @Test func certificatesOfOthersAreRefused() async throws {
    let (server, port) = try start("server")
    await #expect(throws: RemoteError.unavailable(until: nil)) { _ = try await client(port, trusting: "wrong") }
    server.kill()
    let (other, otherPort) = try start("other")
    await #expect(throws: RemoteError.unavailable(until: nil)) { _ = try await client(otherPort, trusting: "right") }
    let named = try await client(otherPort, trusting: "right", name: "elsewhere.test")
    #expect(try await named.get("a") == nil)
    await named.store.stop()
    other.kill()
  }
}
