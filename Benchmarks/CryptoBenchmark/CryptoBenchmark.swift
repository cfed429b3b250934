#if Crypto
  import Esker
  import EskerCrypto
  import Foundation

  /// What sealed values cost beside plain ones: the same calls on both in turns, in one run.
  ///
  /// `esker-crypto-benchmark [--rounds 7] [--only NAME]`: `plain`, `aes-gcm` or `chacha20-poly1305`, for a profile of it; or
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

    /// A form of the values, and what each call took in each round, in nanoseconds.
    private final class Form {
      let name: String
      let transformer: Transformer<[UInt8]>
      var times: [String: [Double]] = [:]

      init(_ name: String, _ transformer: Transformer<[UInt8]>) {
        self.name = name
        self.transformer = transformer
      }

      func median(_ call: String) -> Double {
        let all = (times[call] ?? [0]).sorted()
        return all[all.count / 2]
      }
    }

    func run() throws {
      var forms = [Form("plain", .bytes)]
      for algorithm in KeyRing.Algorithm.allCases {
        let keys = try KeyRing(.random(id: 1, algorithm: algorithm))
        forms.append(Form(algorithm.rawValue, Transformer<[UInt8]>.bytes.sealed(with: keys)))
      }
      if let only { forms.removeAll { $0.name != only } }
      // The first round warms up.
      for round in 0...rounds {
        for form in forms { try measure(form, isCounted: round > 0) }
      }
      print("\(length) bytes, \(count) keys, medians of \(rounds) rounds: ns a call, MB/s of values")
      for call in ["fill", "get", "put"] {
        for form in forms {
          let time = form.median(call)
          let plain = forms[0].median(call)
          let rate = Double(length) / time * 1000
          let columns = [
            call.padding(toLength: 6, withPad: " ", startingAt: 0),
            form.name.padding(toLength: 20, withPad: " ", startingAt: 0),
            String(format: "%10.0f ns %8.0f MB/s", time, rate),
            String(format: "%+9.0f ns, %.2f of plain's rate", time - plain, plain / time),
          ]
          print(columns.joined(separator: " "))
        }
      }
    }

    private func measure(_ form: Form, isCounted: Bool) throws {
      let path = FileManager.default.temporaryDirectory.appendingPathComponent("esker-\(UUID().uuidString)").path
      defer { try? FileManager.default.removeItem(atPath: path) }
      let store = try LogStore(at: path)
      let storage = try LogStorage(store, "values", key: Int.self, transformer: form.transformer)
      let value = (0..<length).map { _ in UInt8.random(in: 0...255) }
      var order = Array(0..<count)
      order.shuffle()
      func time(_ call: String, _ body: (Int) throws -> Void) throws {
        let clock = ContinuousClock()
        let taken = try clock.measure { for key in order { try body(key) } }
        if isCounted { form.times[call, default: []].append(taken / .nanoseconds(1) / Double(count)) }
      }
      var bytes = 0
      try time("fill") { key in try storage.set(value, forKey: key) }
      order.shuffle()
      try time("get") { key in bytes += try storage.value(forKey: key)?.count ?? 0 }
      guard bytes == count * length else { throw StorageError.cancelled }
      order.shuffle()
      try time("put") { key in try storage.set(value, forKey: key) }
      try store.close()
    }
  }
#else
  func runCryptoBenchmark(_ arguments: [String]) { print("build it with the trait Crypto") }
#endif
