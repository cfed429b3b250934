import Foundation

/// The machine that the figures were measured on.
enum Machine {
  static var description: String {
    let processors = ProcessInfo.processInfo.activeProcessorCount
    let memory = Double(ProcessInfo.processInfo.physicalMemory) * 1e-9
    let date = Date().formatted(.iso8601.year().month().day())
    let system = ProcessInfo.processInfo.operatingSystemVersionString
    return "\(date), \(processor), \(processors) cores, \(String(format: "%.0f", memory)) GB, \(system)"
  }

  private static var processor: String {
    let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
    let name = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last
    return name.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown processor"
  }
}
