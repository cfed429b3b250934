import Esker

let path = CommandLine.arguments.dropFirst().first ?? "settings.esker"
var store = try LogStore(at: path)
var settings = Settings(store)
print("at first: \(settings.theme), size \(settings.fontSize), \(settings.name ?? "nobody")")

// All settings, whatever their types, as JSON. A stream has what was changed since it was asked for.
let all = try store.storage("settings", transformer: Transformer<JSONValue>.binary)
let changes = try all.changes()

settings.theme = .dark
try settings.$fontSize.update { $0 += 2 }
settings.name = "Anna"
// The same once more is no change.
try settings.$fontSize.update { $0 = 14 }
try settings.$theme.reset()

var count = 0
for await change in changes {
  switch change {
  case .set(let key, let before, let after): print("\(key): \(before.map { "\($0)" } ?? "default") to \(after)")
  case .removed(let key, let before): print("\(key): \(before.map { "\($0)" } ?? "default") to default")
  default: print(change)
  }
  count += 1
  if count == 4 { break }
}
try store.close()

store = try LogStore(at: path)
settings = Settings(store)
print("after a restart: \(settings.theme), size \(settings.fontSize), \(settings.name ?? "nobody")")
try store.close()
