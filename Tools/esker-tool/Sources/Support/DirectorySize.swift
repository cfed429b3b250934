import Foundation

/// The total size of the files in a directory, or of some of them, as far as they are accessible.
func directorySize(_ path: String, where isCounted: (String) -> Bool = { _ in true }) -> Int {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
  return names.filter(isCounted).reduce(0) { total, name in
    total + Int(SystemCalls.status("\(path)/\(name)")?.st_size ?? 0)
  }
}
