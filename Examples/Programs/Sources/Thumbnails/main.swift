import Esker

let path = CommandLine.arguments.dropFirst().first ?? "thumbnails.esker"
var album = try Album(at: path)

// Twenty tasks ask for the same thumbnail at the same time: it is made once.
let first = album
try await withThrowingTaskGroup(of: Int.self) { group in
  for _ in 0..<20 { group.addTask { try await first.thumbnail(of: "esker 1", width: 120).width } }
  var widths: Set<Int> = []
  for try await width in group { widths.insert(width) }
  print("twenty asked, all got one of width \(widths.sorted()): \(album.made) made")
}

for number in 1...40 { _ = try await album.thumbnail(of: "esker \(number)", width: 120) }
print("an album of forty: \(album.made) made")
let figures = album.thumbnails.statistics
print("memory holds some of them: \((1..<40).contains(figures.count))")
print("within a mebibyte: \(figures.cost <= 1 << 20)")
for number in 1...40 { _ = try await album.thumbnail(of: "esker \(number)", width: 120) }
print("once more, from memory and from the log: \(album.made) made")

let bytes = try album.store.keyspace("thumbnails").entries(in: .all).map(\.value.count)
print("28800 bytes of pixels take less than half of that in the log: \(bytes.allSatisfy { $0 < 14_400 })")

do {
  _ = try await album.thumbnail(of: "drumlin", width: 120)
} catch StorageError.producer(let error) {
  print("drumlin: \(error)")
}

// Bytes that are no picture, as another program might write them, are an error for whoever reads them.
let damaged = Transformer<[UInt8]>.bytes.then(.lz4)
let raw = try LogStorage(album.store, "thumbnails", key: Album.Key.self, transformer: damaged)
try raw.set(Array("P6 100000 100000 255\n".utf8), forKey: Album.Key("esker 7", 60))
do {
  _ = try await album.thumbnail(of: "esker 7", width: 60)
} catch StorageError.decoding(_, let view, _, let error) {
  print("esker 7 of \(view): \(error)")
}
try album.store.close()

// Memory begins empty; the log has all of them.
album = try Album(at: path)
let again = try await album.thumbnail(of: "esker 1", width: 120)
print("after a restart: \(again.width) by \(again.height), \(album.made) made")
try album.store.close()
