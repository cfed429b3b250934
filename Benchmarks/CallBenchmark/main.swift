// What a call through C costs beside the same call in Swift: esker-call-benchmark [KEYS [ROUNDS]]
//
// Two stores in temporary directories, one for each, are filled and read in turns, on one thread. Prints nanoseconds of the thread's processor
// time a call, the median of all rounds, and the median of the quotients of each round.
import CEsker
import EskerLog
import Foundation

let keyCount = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 1_000_000 : 1_000_000
let rounds = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 9 : 9
let directory = NSTemporaryDirectory() + "esker-calls-\(UUID().uuidString)"
defer { try? FileManager.default.removeItem(atPath: directory) }
try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)

func expectOK(_ status: esker_status) {
  if status != ESKER_OK { print("a call failed:", String(cString: esker_last_error())) }
}

let store = try LogStore(at: directory + "/swift")
let keyspace = try store.keyspace("k")
var handle: OpaquePointer?
var cKeyspace: OpaquePointer?
expectOK(esker_open(directory + "/c", nil, &handle))
expectOK(esker_keyspace_open(handle, "k", &cKeyspace))

/// What the thread has used of a processor, in nanoseconds: other programs do not count.
func threadTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Nanoseconds for each key, in an order that is none.
func clocked(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows -> Double {
  var key: (UInt64, UInt64) = (0, 0)
  var place = 1
  let start = threadTime()
  for _ in 0..<keyCount {
    place = (place &+ 618_033_989) % keyCount
    key = (UInt64(place), UInt64(place) &* 0x9E37_79B9_7F4A_7C15)
    try withUnsafeBytes(of: &key) { try body($0) }
  }
  return (threadTime() - start) / Double(keyCount)
}

let value = [UInt8](repeating: 7, count: 100)
let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 16)

/// One kind of call, in both languages.
struct Comparison {
  var name: String
  var swift: () throws -> Double
  var c: () throws -> Double
  var times: [(swift: Double, c: Double)] = []
}

var comparisons = [
  Comparison(
    name: "put",
    swift: { try clocked { key in _ = try value.withUnsafeBytes { try keyspace.put($0, forKey: key) } } },
    c: {
      clocked { key in
        value.withUnsafeBytes { value in
          expectOK(esker_put(cKeyspace, key.baseAddress, key.count, value.baseAddress, value.count, nil, nil))
        }
      }
    }
  ),
  Comparison(
    name: "get into a buffer",
    swift: { try clocked { key in if try keyspace.get(key, into: buffer) != 100 { print("a value is missing") } } },
    c: {
      clocked { key in
        var length = 0
        expectOK(esker_get_into(cKeyspace, key.baseAddress, key.count, buffer.baseAddress, buffer.count, &length))
        if length != 100 { print("a value is missing") }
      }
    }
  ),
  Comparison(
    name: "get a copy",
    swift: { try clocked { key in if try keyspace.get(key)?.count != 100 { print("a value is missing") } } },
    c: {
      clocked { key in
        var (length, copy) = (0, UnsafeMutableRawPointer?.none)
        expectOK(esker_get(cKeyspace, key.baseAddress, key.count, &copy, &length))
        if length != 100 { print("a value is missing") }
        esker_free(copy)
      }
    }
  ),
]

for round in 0...rounds {
  for index in comparisons.indices {
    // Who begins changes. The first round fills, and is not counted.
    var (swift, c) = (0.0, 0.0)
    if round % 2 == 0 { swift = try comparisons[index].swift() }
    c = try comparisons[index].c()
    if round % 2 == 1 { swift = try comparisons[index].swift() }
    if round > 0 { comparisons[index].times.append((swift, c)) }
  }
}

func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }
func rounded(_ number: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", number) }

print("\(keyCount) keys of 16 bytes, values of 100 bytes, \(rounds) rounds")
for comparison in comparisons {
  let swift = median(comparison.times.map(\.swift))
  let c = median(comparison.times.map(\.c))
  let quotient = median(comparison.times.map { $0.c / $0.swift })
  print("\(comparison.name): Swift \(rounded(swift, 0)) ns, C \(rounded(c, 0)) ns, \(rounded(quotient, 3)) of Swift's")
}
buffer.deallocate()
expectOK(esker_keyspace_close(cKeyspace))
expectOK(esker_close(handle))
try store.close()
