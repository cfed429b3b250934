import Crypto
import Esker
import EskerCrypto
import EskerTestSupport
import Foundation
import Testing

@Suite struct KeyRingTests {
  private let zeros = String(repeating: "A", count: 43) + "="
  private let ones = Data(repeating: 1, count: 32).base64EncodedString()

  private func failure(_ body: () throws -> Void) -> KeyRing.Failure? {
    do { try body() } catch { return error as? KeyRing.Failure }
    return nil
  }

  @Test func textHasAKeyInEachLine() throws {
    let text = """
      # comment
      20:\(ones)   # the current one
        3:chacha20-poly1305:\(zeros)

      4:aes-gcm:\(zeros)\r
      """
    let keys = try KeyRing(text: text)
    #expect(keys.ids == [20, 3, 4] && keys.currentID == 20)
    #expect(try KeyRing(text: keys.text).text == keys.text)
    #expect(keys.text == "20:aes-gcm:\(ones)\n3:chacha20-poly1305:\(zeros)\n4:aes-gcm:\(zeros)\n")
    #expect(try KeyRing(text: "2:\(ones), 1:\(zeros)").ids == [2, 1])
  }

  @Test func textThatIsNoneIsRefusedPrecisely() throws {
    #expect(failure { _ = try KeyRing(text: "# nothing\n\n") } == .empty)
    #expect(failure { _ = try KeyRing(text: "1:\(ones)\n1:\(zeros)") } == .duplicate(id: 1))
    #expect(failure { _ = try KeyRing(text: "1:AAAA") } == .length(id: 1, bits: 24))
    #expect(failure { _ = try KeyRing(text: "1:-") } == .notBase64(id: 1))
    let malformed = ["x", "-1:\(ones)", "4294967296:\(ones)", "1:rot13:\(ones)", "1:aes-gcm:\(ones):x", ones]
    for text in malformed {
      guard case .malformed(line: 2, let reason) = failure({ _ = try KeyRing(text: "1:\(zeros)\n\(text)") }) else {
        Issue.record("\(text)")
        continue
      }
      // No part of a key may be in an error.
      #expect(!reason.contains(ones))
    }
  }

  @Test func keysHave256Bits() throws {
    #expect(failure { _ = try KeyRing.Key(id: 1, SymmetricKey(size: .bits128)) } == .length(id: 1, bits: 128))
    #expect(failure { _ = try KeyRing.Key(id: 1, base64: "AAAA") } == .length(id: 1, bits: 24))
    #expect(try KeyRing.Key(id: 1, SymmetricKey(size: .bits256)).base64.count == 44)
    #expect(KeyRing.Key.random(id: 1).base64 != KeyRing.Key.random(id: 1).base64)
  }

  @Test func noKeyIsInADescription() throws {
    let key = try KeyRing.Key(id: 8, base64: ones)
    let keys = try KeyRing(key)
    var dumped = ""
    dump(keys, to: &dumped)
    dump(key, to: &dumped)
    let shown = "\(key) \(keys) \(String(reflecting: key)) \(String(reflecting: keys)) \(dumped)"
    #expect(shown.contains("8") && !shown.contains(ones) && !shown.contains("1, 1, 1"))
  }

  @Test func environmentIsRead() throws {
    setenv("ESKER_TEST_KEYS", "2:\(ones),1:\(zeros)", 1)
    defer { unsetenv("ESKER_TEST_KEYS") }
    #expect(try KeyRing(environment: "ESKER_TEST_KEYS").ids == [2, 1])
    #expect(failure { _ = try KeyRing(environment: "ESKER_NO_KEYS") } == .environment(variable: "ESKER_NO_KEYS"))
  }

  @Test func fileIsReadIfItIsForItsOwnerAlone() throws {
    let directory = try TemporaryDirectory()
    let path = directory.appending("keys")
    try Data("1:\(ones)".utf8).write(to: URL(filePath: path))
    for mode in 0...0o777 as ClosedRange<mode_t> where mode & 0o400 != 0 {
      chmod(path, mode)
      let found = failure { _ = try KeyRing(contentsOfFile: path) }
      #expect(found == (mode & 0o077 == 0 ? nil : .permissions(path: path, mode: UInt32(mode))), "\(mode)")
    }
    #expect("\(KeyRing.Failure.permissions(path: path, mode: 0o644))".contains("mode 0644"))
    chmod(path, 0o600)
    // A link leads to a file, which counts.
    let link = directory.appending("link")
    symlink(path, link)
    #expect(try KeyRing(contentsOfFile: link).currentID == 1)
    chmod(path, 0o644)
    #expect(failure { _ = try KeyRing(contentsOfFile: link) } == .permissions(path: link, mode: 0o644))
    if geteuid() == 0 {
      chmod(path, 0o600)
      chown(path, 12345, 0)
      #expect(failure { _ = try KeyRing(contentsOfFile: path) } == .owner(path: path, user: 12345))
    }
  }

  @Test func whatIsNoFileOfKeysIsRefused() throws {
    let directory = try TemporaryDirectory()
    let missing = directory.appending("none")
    guard case .file(missing, "open", ENOENT) = failure({ _ = try KeyRing(contentsOfFile: missing) }) else {
      Issue.record("a missing file")
      return
    }
    guard case .file(_, "read", 0) = failure({ _ = try KeyRing(contentsOfFile: directory.path) }) else {
      Issue.record("a directory")
      return
    }
    let pipe = directory.appending("pipe")
    mkfifo(pipe, 0o600)
    guard case .file(_, "read", 0) = failure({ _ = try KeyRing(contentsOfFile: pipe) }) else {
      Issue.record("a pipe")
      return
    }
    let path = directory.appending("keys")
    for bytes in [Data(repeating: 0xFF, count: 10), Data(count: 1 << 21), Data()] {
      try bytes.write(to: URL(filePath: path))
      chmod(path, 0o600)
      #expect(failure { _ = try KeyRing(contentsOfFile: path) } != nil)
    }
  }

  @Test func fileIsWrittenForItsOwnerAlone() throws {
    let directory = try TemporaryDirectory()
    let path = directory.appending("keys")
    let keys = try KeyRing(.random(id: 2), older: [.random(id: 1, algorithm: .chaChaPoly)])
    // In a directory that others share, too, and in place of a file that others can read.
    chmod(directory.path, 0o777)
    try Data("x".utf8).write(to: URL(filePath: path))
    chmod(path, 0o666)
    // What an interrupted call has left.
    try Data("y".utf8).write(to: URL(filePath: path + ".new"))
    let mask = umask(0)
    defer { umask(mask) }
    try keys.write(toFile: path)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try KeyRing(contentsOfFile: path).text == keys.text)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["keys"])
    guard case .file(_, "open", ENOENT) = failure({ try keys.write(toFile: directory.appending("no/keys")) }) else {
      Issue.record("a directory that is missing")
      return
    }
    // A key that cannot be kept does not become the current one.
    #expect(throws: KeyRing.Failure.self) {
      try keys.rotate(to: .random(id: 3), writingFile: directory.appending("no/keys"))
    }
    #expect(keys.ids == [2, 1])
    try keys.rotate(to: .random(id: 3), writingFile: path)
    #expect(keys.ids == [3, 2, 1])
    #expect(try KeyRing(contentsOfFile: path).text == keys.text)
  }

  @Test func ringChangesAsAWhole() throws {
    let first = KeyRing.Key.random(id: 1)
    let keys = try KeyRing(first)
    try keys.add(.random(id: 2))
    #expect(keys.ids == [1, 2])
    #expect(failure { try keys.add(.random(id: 2)) } == .duplicate(id: 2))
    #expect(failure { try keys.rotate(to: .random(id: 1)) } == .duplicate(id: 1))
    let third = KeyRing.Key.random(id: 3)
    try keys.rotate(to: third)
    #expect(keys.ids == [3, 1, 2])
    try keys.rotate(to: first)
    try keys.add(first)
    #expect(keys.ids == [1, 3, 2])
    #expect(failure { try keys.remove(id: 1) } == .current(id: 1))
    #expect(failure { try keys.remove(id: 9) } == .unknown(id: 9))
    try keys.remove(id: 3)
    #expect(keys.ids == [1, 2])
    keys.replace(by: try KeyRing(third, older: [first]))
    #expect(keys.ids == [3, 1])
    #expect(failure { _ = try KeyRing(first, older: [.random(id: 1)]) } == .duplicate(id: 1))
  }
}
