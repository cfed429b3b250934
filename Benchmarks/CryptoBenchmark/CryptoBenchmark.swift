#if Crypto
  import Esker
  import EskerCrypto
  import Foundation

  /// What sealed values cost beside plain ones: the same calls on both in turns, in one run.
  ///
  /// `esker-crypto-benchmark [--rounds 7] [--only NAME]`: `plain`, `aes-gcm`, `chacha20-poly1305`, or `sqlcipher` where its
  /// library is installed, for a profile of it; or
  /// `esker-crypto-benchmark --calls [--rounds 7]`: single calls of swift-crypto.
  func runCryptoBenchmark(_ arguments: [String]) {
    func option(_ name: String) -> String? {
      arguments.firstIndex(of: name).flatMap { arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil }
    }
    let rounds = option("--rounds").flatMap(Int.init) ?? 7
    do {
      if arguments.contains("--calls") { return try CipherCalls(rounds: rounds).run() }
      for (length, count) in [(100, 200_000), (64 << 10, 2000)] {
        try SealingRun(length: length, count: count, rounds: rounds, only: option("--only")).run()
      }
    } catch {
      print("\(error)")
      exit(1)
    }
  }

  /// Values of one length.
  struct SealingRun {
    let length: Int
    let count: Int
    let rounds: Int
    let only: String?

    /// An empty store, with the calls that are measured.
    private struct Calls {
      let set: ([UInt8], Int) throws -> Void
      let get: (Int) throws -> [UInt8]?
      /// Ends what was set, as far as it is not ended.
      let flush: () throws -> Void
      let close: () throws -> Void

      /// One of Esker's, with values in a form.
      init(at path: String, _ transformer: Transformer<[UInt8]>) throws {
        let store = try LogStore(at: path)
        let storage = try LogStorage(store, "values", key: Int.self, transformer: transformer)
        set = { value, key in try storage.set(value, forKey: key) }
        get = { key in try storage.value(forKey: key) }
        flush = {}
        close = { try store.close() }
      }

      /// One of SQLCipher's.
      init(of database: SQLCipher) {
        set = { value, key in try database.set(value, forKey: key) }
        get = { key in try database.value(forKey: key) }
        flush = { try database.flush() }
        close = {}
      }
    }

    /// Who keeps the values and how, and what each call took in each round, in nanoseconds.
    private final class Subject {
      let name: String
      let open: (String) throws -> Calls
      var times: [String: [Double]] = [:]

      init(_ name: String, _ open: @escaping (String) throws -> Calls) {
        self.name = name
        self.open = open
      }

      func median(_ call: String) -> Double {
        let all = (times[call] ?? [0]).sorted()
        return all[all.count / 2]
      }
    }

    private func subjects() throws -> [Subject] {
      var subjects = [Subject("plain") { path in try Calls(at: path, .bytes) }]
      for algorithm in KeyRing.Algorithm.allCases {
        let keys = try KeyRing(.random(id: 1, algorithm: algorithm))
        let transformer = Transformer<[UInt8]>.bytes.sealed(with: keys)
        subjects.append(Subject(algorithm.rawValue) { path in try Calls(at: path, transformer) })
      }
      do {
        try SQLCipher.check()
        subjects.append(Subject("sqlcipher") { path in Calls(of: try SQLCipher(at: path)) })
      } catch {
        print("left out: \(error)")
      }
      return subjects.filter { only == nil || $0.name == only }
    }

    func run() throws {
      let subjects = try subjects()
      guard let first = subjects.first else { return }
      // The first round warms up.
      for round in 0...rounds {
        for subject in subjects { try measure(subject, isCounted: round > 0) }
      }
      print("\(length) bytes, \(count) keys, medians of \(rounds) rounds: ns a call, MB/s of values")
      for call in ["fill", "get", "put"] {
        for subject in subjects {
          let time = subject.median(call)
          let plain = first.median(call)
          let rate = Double(length) / time * 1000
          let columns = [
            call.padding(toLength: 6, withPad: " ", startingAt: 0),
            subject.name.padding(toLength: 20, withPad: " ", startingAt: 0),
            String(format: "%10.0f ns %8.0f MB/s", time, rate),
            String(format: "%+9.0f ns, %.2f of plain's rate", time - plain, plain / time),
          ]
          print(columns.joined(separator: " "))
        }
      }
    }

    private func measure(_ subject: Subject, isCounted: Bool) throws {
      let path = FileManager.default.temporaryDirectory.appendingPathComponent("esker-\(UUID().uuidString)").path
      defer {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
      }
      let calls = try subject.open(path)
      let value = (0..<length).map { _ in UInt8.random(in: 0...255) }
      var order = Array(0..<count)
      order.shuffle()
      func time(_ call: String, _ body: (Int) throws -> Void) throws {
        let clock = ContinuousClock()
        let taken = try clock.measure {
          for key in order { try body(key) }
          try calls.flush()
        }
        if isCounted { subject.times[call, default: []].append(taken / .nanoseconds(1) / Double(count)) }
      }
      var bytes = 0
      try time("fill") { key in try calls.set(value, key) }
      order.shuffle()
      try time("get") { key in bytes += try calls.get(key)?.count ?? 0 }
      guard bytes == count * length else { throw StorageError.cancelled }
      order.shuffle()
      try time("put") { key in try calls.set(value, key) }
      try calls.close()
    }
  }
#else
  func runCryptoBenchmark(_ arguments: [String]) { print("build it with the trait Crypto") }
#endif
