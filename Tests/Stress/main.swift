import EskerPlatform

// Writes, reads, merges, backs up and kills at random, and looks whether what is shown was ever so. Started by Tools/stress; it
// starts itself again as the writer, the readers and the checker of each round.
//
// A function, since closures in this file would all be bound to the main actor.
run()

func run() {
  let arguments = Array(CommandLine.arguments.dropFirst())
  do throws(UsageError) {
    switch arguments.first {
    case "writer": WriterRole(try Assignment(arguments.dropFirst())).run()
    case "reader": ReaderRole(try Assignment(arguments.dropFirst())).run()
    case "checker": CheckerRole(try Assignment(arguments.dropFirst())).run()
    case "soak": Soak(try SoakSettings(arguments.dropFirst())).run()
    case "cuts": CutDriver(try CutSettings(arguments.dropFirst())).run()
    case "cut-checker":
      var checker = try CutCheckerRole(arguments.dropFirst())
      checker.run()
    #if os(Linux)
      case "guest": Guest.start(arguments.dropFirst())
    #endif
    case "--help", "-h": print(Usage.text)
    default: Driver(try Settings(arguments)).run()
    }
  } catch {
    StandardStreams.complain("\(error.reason)\n\n\(Usage.text)")
    exitProcess(2)
  }
}
