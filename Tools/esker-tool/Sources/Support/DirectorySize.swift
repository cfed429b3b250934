import Foundation

/// The total size of the files in a directory, as far as they are accessible.
func directorySize(_ path: String) -> Int {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
  return names.reduce(0) { total, name in
    total + Int(SystemCalls.status("\(path)/\(name)")?.st_size ?? 0)
  }
}
