import EskerLog
import EskerPlatform
import EskerTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// Writes to a store from several threads until it is killed, and says on standard output what was acknowledged: sixteen
// bytes an operation, thread and number.
//
// Arguments: the store's directory, then for each thread the number of its last operation.
//
// With `--turns` in front of them, the second argument is a number, and the third a file whose word of that number is that of the last
// write that has returned; it opens the store to write in turn with other such processes. Behind that word are others that say how many
// turns had to be waited for, and the longest wait in nanoseconds.
//
// With `--replacing` in front of them, the second argument is a file whose first word is the number of the last write that has
// returned: few keys of one size are overwritten as fast as possible, and nothing is synced.
switch CommandLine.arguments[1] {
case "--replacing": replaceUntilKilled()
case "--turns": takeTurnsUntilKilled()
default: writeUntilKilled()
}

func takeTurnsUntilKilled() {
  do {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let process = Int(arguments[3]) else { exit(2) }
    let progress = try OSFileSystem().open(arguments[4], .readWrite).map(capacity: 4096, writable: true)
    try progress.extend(to: 4096)
    let words = progress.base.assumingMemoryBound(to: UInt64.self) + process * TurnScript.words
    var options = Options()
    options.segmentSize = 256 << 10
    options.sharing = .inTurn(patience: .seconds(600))
    var generator = SeededGenerator(seed: UInt64(process) + words[0])
    while true {
      let store = try LogStore(at: arguments[2], options: options)
      // The last one may not have been told that it is done.
      let last = try count(of: TurnScript.key(process), in: store)
      guard last == words[0] || last == words[0] + 1 else {
        print("write \(words[0]) is the last that returned, and \(last) is there")
        exit(1)
      }
      words[0] = last
      for _ in 0..<Int.random(in: 100...2_000, using: &generator) {
        let number = words[0] + 1
        let start = ContinuousClock.now
        try count(number, by: process, in: store, durability: generator.oneIn(50) ? .synced : .buffered)
        words[0] = number
        let wait = UInt64(start.duration(to: .now) / .nanoseconds(1))
        // What takes longer has waited for others.
        if wait > 100_000 { TurnScript.note(wait, words) }
        if generator.oneIn(20) { usleep(UInt32.random(in: 0...300, using: &generator)) }
      }
      if generator.oneIn(4) { try store.close() }
    }
  } catch {
    fail(error)
  }
}

/// Counts up what all processes count, and this one's own number with it.
func count(_ number: UInt64, by process: Int, in store: LogStore, durability: Durability) throws {
  try store.transaction(durability: durability) { (tx) throws(StoreError) in
    let before = parsed(try tx.get(TurnScript.counter))
    try tx.put("\(before + 1)", forKey: TurnScript.counter)
    try tx.put("\(number)", forKey: TurnScript.key(process))
    try tx.put(TurnScript.value(number), forKey: TurnScript.slot(number, of: process))
  }
}

func count(of key: String, in store: LogStore) throws -> UInt64 { parsed(try store.get(key)) }

func parsed(_ value: [UInt8]?) -> UInt64 { value.flatMap { UInt64(String(decoding: $0, as: UTF8.self)) } ?? 0 }

func replaceUntilKilled() {
  do {
    let progress = try OSFileSystem().open(CommandLine.arguments[3], .readWrite).map(capacity: 4096, writable: true)
    try progress.extend(to: 8)
    let done = progress.base.assumingMemoryBound(to: UInt64.self)
    let store = try LogStore(at: CommandLine.arguments[2])
    while true {
      let number = done.pointee + 1
      try store.put(KillScript.replacement(number), forKey: KillScript.replacedKey(number))
      done.pointee = number
    }
  } catch {
    fail(error)
  }
}

func writeUntilKilled() {
  let path = CommandLine.arguments[1]
  var done = CommandLine.arguments.dropFirst(2).compactMap { UInt64($0) }
  do {
    while true {
      var options = Options()
      options.segmentSize = 256 << 10
      let store = try LogStore(at: path, options: options)
      // Now and then the store is closed and opened again, so that kills fall into that too.
      let count = UInt64.random(in: 20...2_000)
      let threads = try done.enumerated().map { number, last in
        try WorkerThread(name: "writer") { write(last + 1...last + count, thread: number, to: store) }
      }
      for thread in threads { thread.join() }
      done = done.map { $0 + count }
      try store.close()
    }
  } catch {
    fail(error)
  }
}

func write(_ range: ClosedRange<UInt64>, thread: Int, to store: LogStore) {
  do {
    for number in range {
      let operation = KillScript.operation(number, thread: thread)
      let durability: Durability = operation.isSynced ? .synced : .buffered
      if let key = operation.removal {
        try store.remove(key, durability: durability)
      } else if operation.puts.count == 1 {
        try store.put(operation.puts[0].value, forKey: operation.puts[0].key, durability: durability)
      } else {
        try store.write(durability: durability) { (batch) throws(StoreError) in
          for (key, value) in operation.puts { try batch.put(value, forKey: key) }
        }
      }
      acknowledge(number, thread: thread)
    }
  } catch {
    fail(error)
  }
}

/// Short enough for a pipe to keep in one piece.
func acknowledge(_ number: UInt64, thread: Int) {
  withUnsafeBytes(of: (UInt64(thread), number)) { bytes in
    if write(1, bytes.baseAddress, bytes.count) != bytes.count { exit(2) }
  }
}

func fail(_ error: any Error) -> Never {
  print("\(error)")
  exit(1)
}
