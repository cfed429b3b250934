#if Crypto
  import Foundation

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// An encrypted table of SQLCipher, from the system's library: integers as keys, blobs as values, in transactions of a thousand writes.
  ///
  /// WAL without syncs, as Esker's puts are buffered, and a page cache that holds everything: what is read again is not decrypted again.
  final class SQLCipher {
    /// What goes wrong, in SQLCipher's words.
    struct Failure: Error, CustomStringConvertible {
      let description: String
    }

    private typealias Database = OpaquePointer
    private typealias Statement = OpaquePointer

    /// The calls that are used, with their names in C.
    private struct Library {
      let open:
        @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Database?>, Int32, UnsafePointer<CChar>?) -> Int32
      let key: @convention(c) (Database, UnsafeRawPointer, Int32) -> Int32
      let exec: @convention(c) (Database, UnsafePointer<CChar>, UInt, UInt, UInt) -> Int32
      let prepare:
        @convention(c) (Database, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<Statement?>, UInt) -> Int32
      let bindInteger: @convention(c) (Statement, Int32, Int64) -> Int32
      let bindBlob: @convention(c) (Statement, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
      let step: @convention(c) (Statement) -> Int32
      let reset: @convention(c) (Statement) -> Int32
      let blob: @convention(c) (Statement, Int32) -> UnsafeRawPointer?
      let blobLength: @convention(c) (Statement, Int32) -> Int32
      let finalize: @convention(c) (Statement) -> Int32
      let close: @convention(c) (Database) -> Int32
      let message: @convention(c) (Database) -> UnsafePointer<CChar>

      init() throws {
        let names = ["libsqlcipher.so.0", "libsqlcipher.so.1", "libsqlcipher.so", "libsqlcipher.dylib"]
        guard let handle = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
          throw Failure(description: "SQLCipher is not installed: libsqlcipher0 on Debian and Ubuntu")
        }
        func function<F>(_ name: String, _ type: F.Type = F.self) throws -> F {
          guard let address = dlsym(handle, "sqlite3_\(name)") else {
            throw Failure(description: "there is no sqlite3_\(name)")
          }
          return unsafeBitCast(address, to: type)
        }
        open = try function("open_v2")
        key = try function("key")
        exec = try function("exec")
        prepare = try function("prepare_v2")
        bindInteger = try function("bind_int64")
        bindBlob = try function("bind_blob")
        step = try function("step")
        reset = try function("reset")
        blob = try function("column_blob")
        blobLength = try function("column_bytes")
        finalize = try function("finalize")
        close = try function("close")
        message = try function("errmsg")
      }
    }

    private static let done: Int32 = 101
    private static let row: Int32 = 100
    /// Writes of a transaction.
    private static let batch = 1000

    private let library: Library
    private var database: Database?
    private var writing: Statement?
    private var reading: Statement?
    private var written = 0

    /// Throws if there is none.
    static func check() throws { _ = try Library() }

    /// A new file with a random key, which is not derived from a password.
    init(at path: String) throws {
      library = try Library()
      // To read, write and create; one thread.
      guard library.open(path, &database, 2 | 4 | 0x8000, nil) == 0, let database else {
        throw Failure(description: "\(path) cannot be opened")
      }
      let key = "x'" + (0..<32).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined() + "'"
      try check(key.withCString { library.key(database, $0, Int32(key.utf8.count)) })
      try run(
        """
        pragma journal_mode = wal; pragma synchronous = off; pragma locking_mode = exclusive;
        pragma cache_size = -1000000; pragma wal_autocheckpoint = 10000;
        create table entries (key integer primary key, value blob)
        """
      )
      writing = try prepare("insert or replace into entries values (?, ?)")
      reading = try prepare("select value from entries where key = ?")
    }

    deinit {
      for statement in [writing, reading] { if let statement { _ = library.finalize(statement) } }
      if let database { _ = library.close(database) }
    }

    func set(_ value: [UInt8], forKey key: Int) throws {
      guard let writing else { return }
      if written % Self.batch == 0 { try run("begin") }
      try check(library.bindInteger(writing, 1, Int64(key)))
      // The value is there until the step has ended.
      try value.withUnsafeBytes { bytes in
        try check(library.bindBlob(writing, 2, bytes.baseAddress, Int32(bytes.count), 0))
        try check(library.step(writing), Self.done)
      }
      try check(library.reset(writing))
      written += 1
      if written % Self.batch == 0 { try run("commit") }
    }

    /// Ends the last transaction.
    func flush() throws {
      if written % Self.batch != 0 { try run("commit") }
      written = 0
    }

    func value(forKey key: Int) throws -> [UInt8]? {
      guard let reading else { return nil }
      try check(library.bindInteger(reading, 1, Int64(key)))
      defer { _ = library.reset(reading) }
      guard library.step(reading) == Self.row else { return nil }
      let blob = library.blob(reading, 0)
      return [UInt8](UnsafeRawBufferPointer(start: blob, count: Int(library.blobLength(reading, 0))))
    }

    private func run(_ text: String) throws {
      guard let database else { return }
      try check(library.exec(database, text, 0, 0, 0))
    }

    private func prepare(_ text: String) throws -> Statement? {
      guard let database else { return nil }
      var statement: Statement?
      try check(library.prepare(database, text, -1, &statement, 0))
      return statement
    }

    private func check(_ code: Int32, _ expected: Int32 = 0) throws {
      guard code != expected, let database else { return }
      throw Failure(description: String(cString: library.message(database)))
    }
  }
#endif
