import Esker

let path = CommandLine.arguments.dropFirst().first ?? "search.esker"
var store = try LogStore(at: path)
var index = try SearchIndex(store)

try index.texts.set("An esker is a long ridge of sand and gravel.", forKey: "esker")
try index.texts.set("A drumlin is a hill, shaped like an egg.", forKey: "drumlin")
try index.texts.set("A moraine is a ridge that a glacier has left.", forKey: "moraine")
print("taken in: \(try index.update()) changes")
print("ridge: \(try index.search("ridge"))")
print("ridge gravel: \(try index.search("ridge gravel"))")
print("sea: \(try index.search("sea"))")

// A text that changes loses its old words, one that is removed all.
try index.texts.set("An esker is a winding ridge.", forKey: "esker")
try index.texts.removeValue(forKey: "moraine")
print("taken in: \(try index.update()) changes")
print("ridge: \(try index.search("ridge"))")
print("gravel: \(try index.search("gravel"))")

// What is written while nobody keeps the index is taken in after a restart.
try index.texts.set("A kame is a hill of sand.", forKey: "kame")
try store.close()
store = try LogStore(at: path)
index = try SearchIndex(store)
print("hill, before: \(try index.search("hill"))")
print("taken in: \(try index.update()) changes")
print("hill, after: \(try index.search("hill"))")
print("once more: \(try index.update()) changes")
try store.close()
