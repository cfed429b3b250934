import Esker
import Foundation

/// Prints what an entry of memory ahead of another storage costs in resident memory, beside its key and its value.
///
/// Only one kind of key is measured by a process, and what is behind makes its values up, so that no other memory counts and none
/// that was freed helps.
func printFrontMemory(_ kind: String, count: Int) throws {
  switch kind {
  // Short strings are within their 16 bytes, so a key takes no memory of its own.
  case "String": try measure(kind, count, keyBytes: 16) { "key\($0)" }
  default: try measure("Int", count, keyBytes: 8) { $0 }
  }
}

private func measure<Key: StorageKey>(
  _ kind: String,
  _ count: Int,
  keyBytes: Int,
  _ key: (Int) -> Key
) throws {
  let back = CustomStorage<Key, Int>(name: "made up", get: { $0.hashValue }, set: { _, _ in })
  let front = HybridStorage(back, limits: MemoryLimits(count: count))
  guard let before = heapBytes() else {
    print("this system does not say how much memory a process has in /proc/self/status")
    return
  }
  for number in 0..<count { _ = try front.value(forKey: key(number)) }
  let full = heapBytes().map { $0 - before } ?? 0
  for number in count..<3 * count { _ = try front.value(forKey: key(number)) }
  let steady = heapBytes().map { $0 - before } ?? 0
  let overheads = [full, steady].map { text(Double($0) / Double(count) - Double(keyBytes + 8), 1) }
  print(
    "\(front.statistics.count) entries of \(kind) keys: \(overheads[0]) bytes each when full, \(overheads[1]) after evictions"
  )
}

/// Resident memory that is no file's.
private func heapBytes() -> Int? {
  guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
  let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
  return line.flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first }.flatMap { Int($0) }.map {
    $0 << 10
  }
}
