import Esker
import EskerTestSupport
import Foundation
import Testing

/// Typed storages in transactions.
@Suite struct TypedTransactionTests {
  private func inAStore(_ body: (LogStore) throws -> Void) throws {
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try LogStore(at: path)
    try body(store)
    try store.close()
  }

  private struct Overdrawn: Error {}

  @Test(arguments: [false, true]) func severalStoragesChangeTogether(inMemory: Bool) throws {
    try inAStore { store in
      let accounts = try store.storage(
        "accounts",
        key: String.self,
        of: Int.self,
        memory: inMemory ? MemoryLimits(count: 10) : nil
      )
      let log = try store.storage("log", key: UInt64.self, of: String.self)
      try accounts.set(100, forKey: "anna")
      func move(_ amount: Int) throws {
        try store.transaction { transaction in
          let balance = try transaction.value(forKey: "anna", in: accounts) ?? 0
          guard balance >= amount else { throw Overdrawn() }
          let other = try transaction.value(forKey: "ben", in: accounts) ?? 0
          try transaction.set(balance - amount, forKey: "anna", in: accounts)
          try transaction.set(other + amount, forKey: "ben", in: accounts)
          #expect(try transaction.value(forKey: "ben", in: accounts) == other + amount)
          // Nobody else sees it yet, not in memory either.
          #expect(try accounts.value(forKey: "anna") == balance)
          try transaction.set("moved \(amount)", forKey: 1, in: log)
        }
      }
      try move(30)
      #expect(try accounts.value(forKey: "anna") == 70 && accounts.value(forKey: "ben") == 30)
      #expect(try log.value(forKey: 1) == "moved 30")
      #expect(throws: Overdrawn.self) { try move(100) }
      #expect(try accounts.value(forKey: "anna") == 70 && accounts.value(forKey: "ben") == 30)
      try store.transaction { transaction in
        try transaction.removeValue(forKey: "ben", in: accounts)
        #expect(try transaction.value(forKey: "ben", in: accounts) == nil)
      }
      #expect(try accounts.value(forKey: "ben") == nil)
    }
  }

  /// The storage throws errors of its own kind, and a conflict among them makes the body run again.
  @Test func aConflictWithinAStoragesErrorIsOne() throws {
    try inAStore { store in
      let numbers = try store.storage("n", key: String.self, of: Int.self)
      try numbers.set(1, forKey: "a")
      try numbers.set(1, forKey: "b")
      var runs = 0
      let sum = try store.transaction { transaction in
        runs += 1
        let first = try transaction.value(forKey: "a", in: numbers) ?? 0
        if runs == 1 {
          try store.write { batch in
            try batch.set(2, forKey: "a", in: numbers)
            try batch.set(2, forKey: "b", in: numbers)
          }
        }
        return first + (try transaction.value(forKey: "b", in: numbers) ?? 0)
      }
      #expect(sum == 4 && runs == 2)
    }
  }

  @Test func compositionsShowAndWriteWhatTheyAlwaysDo() throws {
    try inAStore { store in
      let numbers = try store.storage("n", key: String.self, of: Int.self)
      let texts = numbers.mapValues(to: String.self) {
        String($0)
      } from: {
        Int($0) ?? 0
      }
      let counted = numbers.defaulting(to: 7)
      try store.transaction { transaction in
        #expect(try transaction.value(forKey: "a", in: counted) == 7)
        try transaction.set("12", forKey: "a", in: texts)
        #expect(
          try transaction.value(forKey: "a", in: texts) == "12" && transaction.value(forKey: "a", in: counted) == 12
        )
        #expect(try transaction.value(forKey: "a", in: Storage(numbers)) == 12)
      }
      #expect(try numbers.value(forKey: "a") == 12)
    }
  }

  @Test func aStorageThatIsNotInTheStoreIsRefused() throws {
    try inAStore { store in
      let memory = MemoryStorage<String, Int>()
      try inAStore { other in
        let elsewhere = try other.storage("n", key: String.self, of: Int.self)
        try store.transaction { transaction in
          #expect(throws: StorageError.self) { try transaction.value(forKey: "a", in: memory) }
          #expect(throws: StorageError.self) { try transaction.set(1, forKey: "a", in: memory) }
          #expect(throws: StorageError.self) { try transaction.value(forKey: "a", in: elsewhere) }
          #expect(throws: StorageError.self) { try transaction.set(1, forKey: "a", in: elsewhere) }
        }
      }
    }
  }
}
