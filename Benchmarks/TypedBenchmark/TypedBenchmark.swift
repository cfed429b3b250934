import Esker
import Foundation

func runTypedBenchmark(_ arguments: [String]) {
  let path = NSTemporaryDirectory() + "esker-typed-\(UUID().uuidString)"
  defer { try? FileManager.default.removeItem(atPath: path) }
  do {
    let store = try LogStore(at: path)
    print("| operation | ns | |")
    print("|---|---|---|")
    let sum = try measureIntegers(store) &+ measureCodecs(store) &+ measureFronts(store) &+ measureEntries(store)
    try measureSyncedTasks()
    print("\nchecksum \(sum)")
    try store.close()
  } catch {
    print(error)
    exit(1)
  }
}
