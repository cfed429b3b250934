/// Why a measurement was not made or must not be trusted.
enum BenchmarkError: Error, CustomStringConvertible {
  case limit(workload: String, errno: Int32)
  case noSuchCombination(workload: String, subject: String)
  case child(arguments: [String], status: Int32, output: String)
  case peer(String)
  case wrongResult(cell: String, expected: String, found: String)

  var description: String {
    switch self {
    case .limit(let workload, let errno):
      "the limit loop of \(workload) failed with errno \(errno)"
    case .noSuchCombination(let workload, let subject):
      "\(subject) has no workload \(workload)"
    case .child(let arguments, let status, let output):
      "measuring process \(arguments.joined(separator: " ")) ended with \(status) and printed: \(output)"
    case .peer(let message):
      message
    case .wrongResult(let cell, let expected, let found):
      "\(cell) read something else than was written: expected \(expected), found \(found)"
    }
  }
}
