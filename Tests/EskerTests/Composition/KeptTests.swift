import Esker
import Testing

/// What each operator keeps of what is behind: operator by capability.
@Suite struct KeptTests {
  /// What a storage can do, in one letter each: reads, writes, updates, lists, empties, observes.
  private func abilities(_ storage: any StorageProtocol) -> String {
    let can: [(String, Bool)] = [
      ("r", storage is any ReadableStorage), ("w", storage is any WritableStorage),
      ("u", storage is any UpdatableStorage), ("l", storage is any EnumerableStorage),
      ("e", storage is any ClearableStorage), ("o", storage is any ObservableStorage),
    ]
    return can.filter(\.1).map(\.0).joined()
  }

  @Test func operatorsKeepWhatTheirStepKeeps() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let custom = CustomStorage<String, Int>(name: "c", get: { _ in nil }, set: { _, _ in })
      let memory = MemoryStorage<String, Int>()
      let kept: [(String, any StorageProtocol, any StorageProtocol, String, String)] = [
        ("itself", log, custom, "rwuleo", "rwu"),
        ("tap", log.tap { _ in }, custom.tap { _ in }, "rwuleo", "rwu"),
        ("renaming", log.renaming(to: "x"), custom.renaming(to: "x"), "rwuleo", "rwu"),
        ("defaulting", log.defaulting(to: 0), custom.defaulting(to: 0), "rwuleo", "rwu"),
        // Lists would not have what is only made when asked for.
        ("fallback", log.fallback { _, _ in 0 }, custom.fallback { _, _ in 0 }, "rwue", "rwu"),
        ("validate", log.validate { _ in true }, custom.validate { _ in true }, "rwuleo", "rwu"),
        (
          "mapValues",
          log.mapValues(to: String.self) {
            "\($0)"
          } from: {
            $0.count
          },
          custom.mapValues(to: String.self) {
            "\($0)"
          } from: {
            $0.count
          }, "rwuleo", "rwu"
        ),
        ("mapValues out", log.mapValues(to: String.self) { "\($0)" }, custom.mapValues { $0 }, "rlo", "r"),
        (
          "mapValues in", log.mapValues(from: { (text: String) in text.count }),
          custom.mapValues(from: { (text: String) in text.count }), "we", "w"
        ),
        (
          "mapKeys", log.mapKeys { (key: Int) in "\(key)" }, custom.mapKeys { (key: Int) in "\(key)" }, "rwu", "rwu"
        ),
        (
          "mapKeys both ways",
          log.mapKeys { (key: Int) in
            "\(key)"
          } back: {
            Int($0) ?? 0
          },
          custom.mapKeys { (key: Int) in
            "\(key)"
          } back: {
            Int($0) ?? 0
          }, "rwuleo", "rwu"
        ),
        // A view of one key must not empty the rest.
        ("singleKey", log.singleKey("a"), custom.singleKey("a"), "rwu", "rwu"),
        ("readOnly", log.readOnly(), custom.readOnly(), "rlo", "r"),
        ("writeOnly", log.writeOnly(), custom.writeOnly(), "we", "w"),
        ("cached", log.cached(), custom.cached(), "rwuleo", "rwu"),
        ("combined", memory.combined(with: log), memory.combined(with: custom), "rwue", "rwu"),
        ("backed", memory.backed(by: log.readOnly()), memory.backed(by: custom), "rwu", "rwu"),
        ("fallback storage", log.fallback(with: custom), custom.fallback(with: log), "rwu", "rwu"),
        ("zip", zip(log, memory), zip(custom, memory), "rw", "rw"),
      ]
      for (name, overLog, overCustom, ofLog, ofCustom) in kept {
        #expect(abilities(overLog) == ofLog, "\(name) over a log")
        #expect(abilities(overCustom) == ofCustom, "\(name) over two functions")
      }
    }
  }

  @Test func everyOperatorHandsOnTheIdentityOfWhatIsBehind() throws {
    let base = CustomStorage<String, Int>(name: "c", get: { _ in nil }, set: { _, _ in })
    let identity = try base.identity(of: "a")
    #expect(try base.tap { _ in }.identity(of: "a") == identity)
    #expect(try base.renaming(to: "x").identity(of: "a") == identity)
    #expect(try base.cached().identity(of: "a") == identity)
    #expect(try base.mapKeys { (key: Int) in "\(key)" }.identity(of: 7) == base.identity(of: "7"))
    #expect(try base.singleKey("a").identity(of: ()) == identity)
    #expect(try PartialStorage(base).identity(of: "a") == identity)
    // Other values, or not all of them: another identity.
    #expect(try base.validate { _ in true }.identity(of: "a") != identity)
    #expect(try base.mapValues(to: Int.self) { $0 + 1 }.identity(of: "a") != identity)
  }

  @Test func keysOfOtherSpellingsAreTwoFlights() throws {
    let base = CustomStorage<String, Int>(name: "c", get: { _ in nil }, set: { _, _ in })
    #expect(try base.identity(of: "\u{E9}") != base.identity(of: "e\u{301}"))
  }

  @Test func mapsOfKeysBothWaysAreListedAndObserved() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let numbers = log.mapKeys(to: Int.self) {
        "\($0)"
      } back: { text in
        guard let number = Int(text) else { throw TransformerError.noSuchCase(text) }
        return number
      }
      let heard = Collected<StorageChange<Int, Int>>()
      let token = try numbers.observe { heard.add($0) }
      try numbers.set(1, forKey: 7)
      try log.set(2, forKey: "x")
      #expect(heard.reach(2))
      #expect(heard.all.first == .set(key: 7, before: nil, after: 1))
      guard case .unreadable(key: nil, .key("x", _, _)) = heard.all[1] else {
        Issue.record("\(heard.all)")
        return
      }
      token.cancel()
      #expect(try numbers.entries(skippingUnreadable: true).map(\.key) == [7])
      guard case .key = failure(of: { try numbers.entries() }) else {
        Issue.record("another error")
        return
      }
    }
  }
}
