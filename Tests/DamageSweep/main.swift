import EskerTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// Damages stores in every way and does with them whatever can be done with a store.
//
// Each round says what it is about to do before it does it, so that the last line tells of a trap. `--help` says more.
guard let arguments = Arguments(CommandLine.arguments.dropFirst()) else {
  print(Arguments.help)
  exit(64)
}
exit(await sweep(arguments) ? 0 : 1)
