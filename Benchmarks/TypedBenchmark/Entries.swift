import Esker

private let count = 100_000
private let rounds = 7

struct Person: Codable, Identifiable, Sendable {
  var id: Int
  var name: String
}

/// Values with what is known of them, against values alone; values under their own id, against a storage that was made once.
func measureEntries(_ store: LogStore) throws -> Int {
  let keys = (0..<count).map { $0 &* 0x9E37_79B9 }
  let log = try LogStorage(store, "entries", key: Int.self, of: Int.self)
  let people = try store.storage(of: Person.self)
  for key in keys {
    try log.set(key, forKey: key)
    try people.set(Person(id: key, name: "Anna"), forKey: key)
  }
  var sum = 0
  let times = try best(
    rounds,
    of: count,
    [
      { for key in keys { sum &+= try log.value(forKey: key) ?? 0 } },
      { for key in keys { sum &+= try log.entry(forKey: key)?.value ?? 0 } },
      { for key in keys { sum &+= try people.value(forKey: key)?.id ?? 0 } },
      { for key in keys { sum &+= try store.value(Person.self, id: key)?.id ?? 0 } },
      { for key in keys { try people.set(Person(id: key, name: "Anna"), forKey: key) } },
      { for key in keys { try store.set(Person(id: key, name: "Anna")) } },
    ]
  )
  row("log value", times[0])
  row("log entry", times[1], "\(text(times[1] / times[0], 2)) times the value")
  row("value by type and id", times[3], "\(text(times[3] / times[2], 2)) times the storage's")
  row("set by own id", times[5], "\(text(times[5] / times[4], 2)) times the storage's")
  return sum
}
