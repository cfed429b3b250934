import Foundation

/// Measures the memory front's cache: hit ratios on traces, gets against a bare dictionary, bytes an entry.
func runMemoryBenchmark(_ arguments: [String]) {
  switch arguments.dropFirst().first {
  case "traces" where arguments.count == 3:
    do {
      try printHitRatios(directory: arguments[2])
    } catch {
      print("the traces could not be read: \(error)")
      exit(1)
    }
  case "speed":
    printSpeeds()
  case "memory" where arguments.count == 3:
    printMemory(count: max(1, Int(arguments[2]) ?? 0))
  default:
    print("usage: esker-memory-benchmark traces DIRECTORY | speed | memory ENTRIES")
    exit(64)
  }
}

func text(_ value: Double, _ digits: Int) -> String {
  String(format: "%.\(digits)f", value)
}
