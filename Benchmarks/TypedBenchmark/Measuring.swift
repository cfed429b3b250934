import Dispatch

/// The best of several runs of subjects that take turns, in nanoseconds an operation.
func best(_ rounds: Int, of count: Int, _ subjects: [() throws -> Void]) throws -> [Double] {
  var times = [Double](repeating: .infinity, count: subjects.count)
  for _ in 0..<rounds {
    for (index, subject) in subjects.enumerated() {
      let start = DispatchTime.now().uptimeNanoseconds
      try subject()
      times[index] = min(times[index], Double(DispatchTime.now().uptimeNanoseconds - start) / Double(count))
    }
  }
  return times
}

func row(_ what: String, _ nanoseconds: Double, _ note: String = "") {
  print("| \(what) | \(text(nanoseconds, 1)) | \(note) |")
}

func text(_ value: Double, _ digits: Int) -> String {
  let scale = digits == 1 ? 10.0 : 100.0
  return "\((value * scale).rounded() / scale)"
}
