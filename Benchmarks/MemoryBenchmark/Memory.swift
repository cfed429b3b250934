import EskerMemory
import Foundation

/// Prints what an entry costs in resident memory, beside its key and value of eight bytes each.
///
/// The memory of the process before and after; only the number given as argument is measured, so that no freed memory helps.
func printMemory(count: Int) {
  guard let before = residentBytes() else {
    print("this system does not say how much memory a process has in /proc/self/statm")
    return
  }
  let cache = MemoryCache<Int, Int>(limits: MemoryLimits(count: count))
  for key in 0..<count { cache.put(key, forKey: key, now: 0) }
  let full = residentBytes().map { $0 - before } ?? 0
  for key in count..<3 * count { cache.put(key, forKey: key, now: 0) }
  let steady = residentBytes().map { $0 - before } ?? 0
  let overheads = [full, steady].map { text(Double($0) / Double(count) - 16, 1) }
  print("\(cache.count) entries: \(overheads[0]) bytes each when full, \(overheads[1]) after twice as many evictions")
}

private func residentBytes() -> Int? {
  guard let statistics = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
  let fields = statistics.split(separator: " ")
  return fields.count > 1 ? Int(fields[1]).map { $0 * Int(getpagesize()) } : nil
}
