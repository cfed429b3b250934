import Dispatch

// Arguments: numbers of keys; 1,000,000 and 10,000,000 without any.
let sizes = CommandLine.arguments.dropFirst().compactMap { Int($0) }
runIndexBenchmark(sizes: sizes.isEmpty ? [1_000_000, 10_000_000] : sizes)
