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
// With `--replacing` in front of them, the second argument is a file whose first word is the number of the last write that has
// returned: few keys of one size are overwritten as fast as possible, and nothing is synced.
if CommandLine.arguments[1] == "--replacing" { replaceUntilKilled() } else { writeUntilKilled() }

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
