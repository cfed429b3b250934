import Esker
import EskerLog
import EskerPlatform

extension Scenario {
  /// Memory in front of a log.
  static let fronts = [
    Scenario("front", "the memory of a hybrid storage, beside puts past it and through it") {
      let machine = Machine.told()
      let store = try machine.open()
      let register = Register("a")
      let log = try LogStorage(store, "fronted", key: String.self, of: [UInt8].self)
      let front = HybridStorage(log, keepsWrites: false)
      try register.put { try log.set($0, forKey: "a") }
      let get: @Sendable () throws -> Void = { try register.get { try front.value(forKey: "a") } }
      together(
        Part("writer") {
          try register.put { try log.set($0, forKey: "a") }
          try register.put { try front.set($0, forKey: "a") }
        },
        Part("reader") { for _ in 0..<2 { try get() } },
        Part("other reader") { for _ in 0..<2 { try get() } }
      )
      // The memory and the log agree.
      try get()
      try register.get { try log.value(forKey: "a") }
    },
    Scenario("tiers", "a storage in memory in front of a log, written through both, beside reads that fill it") {
      let machine = Machine.told()
      let store = try machine.open()
      let register = Register("a")
      let log = try LogStorage(store, "behind", key: String.self, of: [UInt8].self)
      let tiers = MemoryStorage<String, [UInt8]>().combined(with: log)
      try register.put { try log.set($0, forKey: "a") }
      // While a write is under way, a read may find it in the log, and the next one in memory what was there before.
      let get: @Sendable () throws -> Void = {
        let floor = register.floor
        Schedule.note("gets a")
        register.check(try tiers.value(forKey: "a"), from: floor, isLatest: false)
      }
      together(
        Part("writer") {
          try register.put { try tiers.set($0, forKey: "a") }
          try register.remove { try tiers.removeValue(forKey: "a") }
        },
        Part("reader") { for _ in 0..<2 { try get() } }
      )
      // Memory and the log agree.
      try get()
      try register.get { try log.value(forKey: "a") }
    },
  ]
}
