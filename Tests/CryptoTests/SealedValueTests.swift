import Crypto
import Esker
import EskerCrypto
import EskerTestSupport
import Foundation
import Testing

/// The bytes of sealed values: what is in them, and that nothing else than they is ever read.
@Suite struct SealedValueTests {
  private static let algorithms = KeyRing.Algorithm.allCases

  @Test(arguments: algorithms) func valuesComeBack(_ algorithm: KeyRing.Algorithm) throws {
    let keys = try KeyRing(id: 7, algorithm)
    try withStore { store in
      let values = try store.storage("values", transformer: Transformer<[UInt8]>.bytes.sealed(with: keys))
      for length in [0, 1, 15, 16, 17, 100, 4096, 70_000, 1 << 20] {
        let value = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try values.set(value, forKey: "\(length)")
        #expect(try values.value(forKey: "\(length)") == value)
        #expect(try store.keyspace("values").get("\(length)")?.count == length + 34)
      }
      #expect(try store.keyspace("values").valueForm == "bytes+sealed")
      #expect(try values.value(forKey: "none") == nil)
    }
  }

  @Test func sealingComesAfterCompression() throws {
    let keys = try KeyRing(id: 1)
    try withStore { store in
      let form = Transformer<String>.utf8.then(.lz4).sealed(with: keys)
      let texts = try store.storage("texts", transformer: form)
      let text = String(repeating: "again and ", count: 1000)
      try texts.set(text, forKey: "a")
      #expect(try texts.value(forKey: "a") == text)
      #expect(form.id == "utf8+lz4+sealed")
      #expect(try #require(try store.keyspace("texts").get("a")).count < 200)
    }
  }

  /// The format, made and read here by hand.
  @Test(arguments: algorithms) func formatIsAsItIsDocumented(_ algorithm: KeyRing.Algorithm) throws {
    let secret = SymmetricKey(data: (0..<32).map { UInt8($0) })
    let keys = try KeyRing(KeyRing.Key(id: 0x0403_0201, secret, algorithm: algorithm))
    let head: [UInt8] = [0xFE, algorithm == .aesGCM ? 1 : 2, 1, 2, 3, 4]
    let context = head + [7, 0, 0, 0] + Array("lettersanna".utf8)
    try withStore { store in
      let letters = try store.storage("letters", transformer: Transformer<String>.utf8.sealed(with: keys))
      try letters.set("Dear Anna", forKey: "anna")
      let bytes = try #require(try store.keyspace("letters").get("anna"))
      #expect(bytes.prefix(6) == head[...])
      let opened =
        switch algorithm {
        case .aesGCM: try AES.GCM.open(.init(combined: bytes[6...]), using: secret, authenticating: context)
        case .chaChaPoly: try ChaChaPoly.open(.init(combined: bytes[6...]), using: secret, authenticating: context)
        }
      #expect(String(decoding: opened, as: UTF8.self) == "Dear Anna")
      let box =
        switch algorithm {
        case .aesGCM: try AES.GCM.seal(Data("Dear Bert".utf8), using: secret, authenticating: context).combined
        case .chaChaPoly: try ChaChaPoly.seal(Data("Dear Bert".utf8), using: secret, authenticating: context).combined
        }
      try store.keyspace("letters").put(head + Array(try #require(box)), forKey: "anna")
      #expect(try letters.value(forKey: "anna") == "Dear Bert")
    }
  }

  @Test(arguments: algorithms) func everyChangedByteIsRefused(_ algorithm: KeyRing.Algorithm) throws {
    let keys = try KeyRing(.random(id: 3, algorithm: algorithm), older: [.random(id: 2, algorithm: algorithm)])
    try withStore { store in
      let letters = try store.storage("letters", transformer: Transformer<String>.utf8.sealed(with: keys))
      let raw = try store.keyspace("letters")
      try letters.set("Dear Anna, all is well", forKey: "anna")
      let sealed = try #require(try raw.get("anna"))
      for position in sealed.indices {
        for bit in 0..<8 {
          var changed = sealed
          changed[position] ^= 1 << bit
          try raw.put(changed, forKey: "anna")
          let found = try #require(refusal { _ = try letters.value(forKey: "anna") }, "byte \(position)")
          #expect(found.key == "anna" && found.view == "letters")
          switch (position, found.error) {
          case (0, .notSealed), (1, .unknownAlgorithm(_, keyID: 3)), (1, .notAuthentic(keyID: 3)): break
          case (2, .notAuthentic(keyID: 2)) where bit == 0: break
          case (2...5, .unknownKey(let id)): #expect(id == keyID(changed))
          case (6..., .notAuthentic(keyID: 3)): break
          default: Issue.record("byte \(position), bit \(bit): \(found.error)")
          }
        }
      }
      for length in 0..<sealed.count {
        try raw.put(Array(sealed[..<length]), forKey: "anna")
        let found = try #require(refusal { _ = try letters.value(forKey: "anna") }, "\(length) bytes")
        #expect(found.error == (length < 34 ? .notSealed : .notAuthentic(keyID: 3)))
      }
      try raw.put(sealed + [0], forKey: "anna")
      #expect(refusal { _ = try letters.value(forKey: "anna") }?.error == .notAuthentic(keyID: 3))
      // Nothing was repaired or removed.
      #expect(try raw.get("anna") == sealed + [0])
      try raw.put(sealed, forKey: "anna")
      #expect(try letters.value(forKey: "anna") == "Dear Anna, all is well")
    }
  }

  @Test func wrongAndMissingKeysAreNamed() throws {
    let keys = try KeyRing(id: 5)
    try withStore { store in
      let form = Transformer<String>.utf8
      try store.storage("letters", transformer: form.sealed(with: keys)).set("a", forKey: "anna")
      let others = try store.storage("letters", transformer: form.sealed(with: try KeyRing(id: 6)))
      let missing = try #require(refusal { _ = try others.value(forKey: "anna") })
      #expect(missing.error == .unknownKey(id: 5) && missing.key == "anna" && missing.view == "letters")
      let same = try store.storage("letters", transformer: form.sealed(with: try KeyRing(id: 5)))
      #expect(refusal { _ = try same.value(forKey: "anna") }?.error == .notAuthentic(keyID: 5))
      // Of the same id and bytes, but for another algorithm.
      let secret = try #require(keys.text.split(separator: ":").last).trimmingCharacters(in: .whitespacesAndNewlines)
      let turned = try KeyRing(KeyRing.Key(id: 5, base64: secret, algorithm: .chaChaPoly))
      let other = try store.storage("letters", transformer: form.sealed(with: turned))
      #expect(refusal { _ = try other.value(forKey: "anna") }?.error == .notAuthentic(keyID: 5))
      // What was written plainly is none, whatever it looks like.
      try store.keyspace("letters").put("Dear Anna, this was never sealed, though it is long enough", forKey: "anna")
      #expect(refusal { _ = try same.value(forKey: "anna") }?.error == .notSealed)
      // A plain view is refused as long as it does not say what it wants.
      #expect(throws: StorageError.self) { try store.storage("letters", of: String.self) }
    }
  }

  @Test(arguments: algorithms) func valuesBelongToTheirKeyAndKeyspace(_ algorithm: KeyRing.Algorithm) throws {
    let keys = try KeyRing(id: 1, algorithm)
    try withStore { store in
      let form = Transformer<String>.utf8.sealed(with: keys)
      // The bytes of name and key together are the same for the last two, and "(default)" is how the first is shown.
      let places = [
        ("", "ab"), ("(default)", "ab"), ("letters", "anna"), ("letters", "bert"), ("lettersa", "nna"),
        ("letter", "sanna"),
      ]
      func storage(_ name: String) throws -> Storage<String, String> {
        try store.storage(keyspace: name, keys: String.keyTransformer, values: form)
      }
      for (name, key) in places { try storage(name).set("of \(name) \(key)", forKey: key) }
      let sealed = try places.map { try #require(try store.keyspace($0.0).get($0.1)) }
      for (to, place) in places.enumerated() {
        for from in places.indices {
          try store.keyspace(place.0).put(sealed[from], forKey: place.1)
          let there = try storage(place.0)
          if from == to {
            #expect(try there.value(forKey: place.1) == "of \(place.0) \(place.1)")
          } else {
            #expect(refusal { _ = try there.value(forKey: place.1) }?.error == .notAuthentic(keyID: 1), "\(from) \(to)")
          }
        }
        try store.keyspace(place.0).put(sealed[to], forKey: place.1)
      }
    }
  }

  /// Not prevented, and the documents say so.
  @Test func olderValueOfTheSameKeyCanBePutBack() throws {
    let keys = try KeyRing(id: 1)
    try withStore { store in
      let balances = try store.storage("balances", transformer: Transformer<Int>.littleEndian.sealed(with: keys))
      try balances.set(100, forKey: "anna")
      let old = try #require(try store.keyspace("balances").get("anna"))
      try balances.set(1, forKey: "anna")
      try store.keyspace("balances").put(old, forKey: "anna")
      #expect(try balances.value(forKey: "anna") == 100)
    }
  }

  @Test(.timeLimit(.minutes(60))) func noncesNeverRepeat() throws {
    let keys = try KeyRing(id: 1)
    let store = try LogStore.inMemory()
    let form = Transformer<UInt8>.littleEndian.sealed(with: keys)
    let numbers = try store.storage("numbers", key: Int.self, transformer: form)
    let raw = try store.keyspace("numbers")
    var nonces: Set<[UInt8]> = []
    let rounds = Rounds.count(10, thorough: 100)
    for _ in 0..<rounds {
      for key in 0..<10_000 { try numbers.set(1, forKey: key) }
      for entry in try raw.entries(in: .all) { nonces.insert(Array(entry.value[6..<18])) }
    }
    #expect(nonces.count == rounds * 10_000)
    try store.close()
  }
}
