import Esker

let path = CommandLine.arguments.dropFirst().first ?? "counters.esker"
let counter = try EventCounter(at: path)

// Eight tasks count at once. An increment reads and writes as one, so none is lost.
try await withThrowingTaskGroup(of: Void.self) { group in
  for task in 0..<8 {
    group.addTask {
      for number in 0..<500 {
        try counter.count(number.isMultiple(of: 5) ? "search" : "view", on: "2026-11-30")
        if number.isMultiple(of: 50) { try counter.count("order", on: "2026-11-30") }
      }
      try counter.count("view", on: "2026-11-29", times: task)
    }
  }
  try await group.waitForAll()
}

print("2026-11-30: \(try counter.total(of: "2026-11-30")) events")
for (kind, count) in try counter.ranking(of: "2026-11-30") { print("  \(kind): \(count)") }
print("2026-11-29: \(try counter.total(of: "2026-11-29")) events")
print("counters removed of the days before: \(try counter.forget(before: "2026-11-30"))")
print("2026-11-29: \(try counter.total(of: "2026-11-29")) events")
try counter.store.close()

let later = try EventCounter(at: path)
print("after a restart: \(try later.total(of: "2026-11-30")) events")
try later.store.close()
