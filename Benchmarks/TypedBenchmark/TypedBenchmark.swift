import Esker
import Foundation

func runTypedBenchmark(_ arguments: [String]) {
  if arguments.count == 4, arguments[1] == "memory", let count = Int(arguments[3]), count > 0 {
    do { try printFrontMemory(arguments[2], count: count) } catch {
      print(error)
      exit(1)
    }
    return
  }
  let path = NSTemporaryDirectory() + "esker-typed-\(UUID().uuidString)"
  defer { try? FileManager.default.removeItem(atPath: path) }
  do {
    // Merging in the background would take its share of the processors from one subject or another.
    var options = Options()
    options.merge.isAutomatic = false
    let store = try LogStore(at: path, options: options)
    print("| operation | ns | |")
    print("|---|---|---|")
    let sum =
      try measureIntegers(store) &+ measureCodecs(store) &+ measureFronts(store) &+ measureEntries(store)
      &+ measureTwins(store)
    try measureSyncedTasks()
    print("\nchecksum \(sum)")
    try store.close()
  } catch {
    print(error)
    exit(1)
  }
}
