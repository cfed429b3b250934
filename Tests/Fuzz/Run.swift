import CLibFuzzer

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

func run() {
  let arguments = CommandLine.arguments
  if arguments.dropFirst().first == "--list" {
    for target in FuzzTarget.all { print(target.name, target.longest) }
    return
  }
  guard let target = Chosen.target else {
    print("which of \(FuzzTarget.all.map(\.name).joined(separator: ", "))?")
    exit(2)
  }
  if arguments.count == 4, arguments[2] == "--samples" {
    do { try target.writeSamples(to: arguments[3]) } catch { fatalError("\(error)") }
    return
  }
  // libFuzzer sees the options behind the name.
  var count = CommandLine.argc - 1
  var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
  exit(LLVMFuzzerRunDriver(&count, &list, fuzzOne))
}

/// The target that the command line names.
enum Chosen {
  static let target = FuzzTarget.all.first { $0.name == CommandLine.arguments.dropFirst().first }
}

/// What libFuzzer calls for each input.
private func fuzzOne(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  Chosen.target?.run(UnsafeRawBufferPointer(start: data, count: size))
  return 0
}

/// What libFuzzer calls for a new input: its own change, mostly with the checksums put right. Else nearly all inputs would end at the
/// first of them.
@_cdecl("LLVMFuzzerCustomMutator")
func mutate(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ maximum: Int, _ seed: UInt32) -> Int {
  let size = LLVMFuzzerMutate(data, size, maximum)
  guard let target = Chosen.target, let repair = target.repair, seed % 8 != 0 else { return size }
  var bytes = [UInt8](UnsafeBufferPointer(start: data, count: size))
  repair(&bytes)
  guard bytes.count <= maximum else { return size }
  UnsafeMutableBufferPointer(start: data, count: maximum).baseAddress?.update(from: bytes, count: bytes.count)
  return bytes.count
}
