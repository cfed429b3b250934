import Foundation

#if PEER_GRDB
  import GRDB

  /// Structs in an SQLite table, through GRDB.
  enum GRDBStore {
    static let isAvailable = true
    static let settings: String? =
      "GRDB: DatabaseQueue, WAL checkpointed every 10,000 pages, synchronous=OFF, 2 GiB mapped, cache of 256 MiB, a transaction an operation (batched: one for all); JSON in a column beside the key, or a record type with a column a property; cached statements"

    static func measure(_ assignment: Assignment) throws -> Measurement {
      let path = assignment.peerPath
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      var configuration = Configuration()
      configuration.journalMode = .wal
      // The same as for SQLite by itself.
      configuration.prepareDatabase { database in
        try database.execute(
          sql: """
            PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=10000; PRAGMA mmap_size=2147418112;
            PRAGMA cache_size=-262144
            """
        )
      }
      let queue = try DatabaseQueue(path: path + "/store.sqlite", configuration: configuration)
      try queue.write { database in
        try database.execute(sql: "CREATE TABLE document (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
        // A record type's upsert requires the row's number.
        try database.execute(
          sql: """
            CREATE TABLE person (key TEXT PRIMARY KEY, id INTEGER, name TEXT, mail TEXT, score DOUBLE, active BOOLEAN)
            """
        )
      }
      var measurement: Measurement
      if assignment.subject == .grdbBatched {
        measurement = try queue.write { database in
          try calls(assignment) { _, body in try body(database) }.measure(assignment)
        }
      } else {
        measurement = try calls(assignment) { isWriting, body in
          isWriting ? try queue.write(body) : try queue.read(body)
        }.measure(assignment)
      }
      try queue.close()
      measurement.diskBytes = try DiskUse.bytes(at: path)
      return measurement
    }

    /// Runs a body in a new transaction for writing or reading, or in the current one.
    private typealias Access = (_ isWriting: Bool, _ body: (Database) throws -> Int?) throws -> Int?

    private static func calls(_ assignment: Assignment, _ access: @escaping Access) -> TypedCalls {
      let (users, keys) = typedData(assignment)
      if assignment.workload.isJSON {
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        return TypedCalls(
          set: { index in
            let json = try encoder.encode(users[index])
            _ = try access(true) { database in
              let statement = try database.cachedStatement(
                sql: "INSERT INTO document VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
              )
              try statement.execute(arguments: [keys[index], json])
              return nil
            }
          },
          get: { index in
            try access(false) { database in
              let statement = try database.cachedStatement(sql: "SELECT value FROM document WHERE key = ?")
              guard let json = try Data.fetchOne(statement, arguments: [keys[index]]) else { return nil }
              return try decoder.decode(User.self, from: json).id
            }
          }
        )
      }
      let people = zip(keys, users).map { Person(key: $0, user: $1) }
      return TypedCalls(
        set: { index in
          _ = try access(true) { database in
            try people[index].upsert(database)
            return nil
          }
        },
        get: { index in try access(false) { try Person.fetchOne($0, key: keys[index])?.id } }
      )
    }
  }

  /// The struct under its key as GRDB's own documentation recommends.
  private struct Person: Codable, FetchableRecord, PersistableRecord {
    var key: String
    var id: Int
    var name: String
    var mail: String
    var score: Double
    var active: Bool

    init(key: String, user: User) {
      self.key = key
      (id, name, mail, score, active) = (user.id, user.name, user.mail, user.score, user.active)
    }
  }
#else
  /// GRDB is not part of this build.
  enum GRDBStore {
    static let isAvailable = false
    static let settings: String? = nil

    static func measure(_ assignment: Assignment) throws -> Measurement {
      throw BenchmarkError.peer("GRDB is not part of this build")
    }
  }
#endif
