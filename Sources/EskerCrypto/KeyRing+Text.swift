#if Crypto
  internal import EskerPlatform
  internal import Foundation

  /// Keys as text, in a file or an environment variable: a key in each line, or with commas between them; the first one is the current one.
  ///
  /// ```
  /// # id:base64, or id:algorithm:base64
  /// 2:mZ0vWDXUvM1Sl5TNsuuQ7s43ZDmMWYqNcF0aVvW1h1E=
  /// 1:chacha20-poly1305:b8Q1xw9u6ZsfDgQm0rM9BfPq1g1dDqVbW0wHkO0xD2c=
  /// ```
  extension KeyRing {
    /// The most that a file of keys may have.
    static let longestText = 1 << 20

    /// The keys of a text: a key in each line, or with commas between them. The first one is the current one. What follows a `#` in a line,
    /// empty lines and spaces count for nothing.
    ///
    /// - Throws: ``Failure/malformed(line:reason:)``, ``Failure/length(id:bits:)``, ``Failure/notBase64(id:)``,
    ///   ``Failure/duplicate(id:)``, ``Failure/empty``.
    public convenience init(text: String) throws(Failure) {
      var keys: [Key] = []
      for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
        for part in line.prefix(while: { $0 != "#" }).split(separator: ",") {
          let text = part.trimmingCharacters(in: .whitespaces)
          if !text.isEmpty { keys.append(try Self.key(text, line: number + 1)) }
        }
      }
      guard let current = keys.first else { throw .empty }
      try self.init(current, older: Array(keys.dropFirst()))
    }

    private static func key(_ text: String, line: Int) throws(Failure) -> Key {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 || parts.count == 3 else {
        throw .malformed(line: line, reason: "it is not id:base64, or id:algorithm:base64")
      }
      guard let id = UInt32(parts[0]) else { throw .malformed(line: line, reason: "the id is no number below 2^32") }
      var algorithm = Algorithm.aesGCM
      if parts.count == 3 {
        guard let named = Algorithm(rawValue: parts[1]) else {
          let known = Algorithm.allCases.map(\.rawValue).joined(separator: " and ")
          throw .malformed(line: line, reason: "the algorithms are \(known)")
        }
        algorithm = named
      }
      return try Key(id: id, base64: parts[parts.count - 1], algorithm: algorithm)
    }

    /// The keys as a text that ``init(text:)`` reads, a line for each. **A secret**: for a keychain, a vault of secrets, or a file, see
    /// ``write(toFile:)``.
    public var text: String { Self.text(of: present.keys) }

    private static func text(of keys: [Key]) -> String {
      keys.map { "\($0.id):\($0.algorithm.rawValue):\($0.base64)\n" }.joined()
    }

    /// The keys of an environment variable, as ``init(text:)`` reads them.
    ///
    /// Programs that this one starts inherit the variable, and other processes of the user can see it: a file is better.
    ///
    /// - Throws: ``Failure/environment(variable:)`` if there is none; what ``init(text:)`` throws.
    public convenience init(environment variable: String) throws(Failure) {
      guard let text = ProcessInfo.processInfo.environment[variable] else { throw .environment(variable: variable) }
      try self.init(text: text)
    }

    /// The keys of a file, as ``init(text:)`` reads them. Nobody but its owner may have any permission on it, as with mode 0600 or 0400, and
    /// the owner must be the user that the process runs as, or root: otherwise it is not read.
    ///
    /// - Throws: ``Failure/permissions(path:mode:)``, ``Failure/owner(path:user:)``, ``Failure/file(path:operation:errno:)``; what
    ///   ``init(text:)`` throws.
    public convenience init(contentsOfFile path: String) throws(Failure) {
      let bytes: [UInt8]
      do throws(PrivateFile.Refusal) { bytes = try PrivateFile.read(path, atMost: Self.longestText) } catch {
        switch error {
        case .system(let error): throw .file(path: path, operation: error.operation, errno: error.code)
        case .notAFile, .tooLong: throw .file(path: path, operation: "read", errno: 0)
        case .shared(let mode): throw .permissions(path: path, mode: mode)
        case .foreign(let user): throw .owner(path: path, user: user)
        }
      }
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw .malformed(line: 1, reason: "the file is not text in UTF-8")
      }
      try self.init(text: text)
    }

    /// Writes the keys to a file of mode 0600, durably, in place of what has that name: all of it or nothing.
    ///
    /// - Throws: ``Failure/file(path:operation:errno:)``.
    public func write(toFile path: String) throws(Failure) { try Self.write(present.keys, toFile: path) }

    static func write(_ keys: [Key], toFile path: String) throws(Failure) {
      do throws(PlatformError) { try PrivateFile.write(Array(text(of: keys).utf8), to: path) } catch {
        throw .file(path: path, operation: error.operation, errno: error.code)
      }
    }
  }
#endif
