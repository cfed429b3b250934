import CLibFuzzer

// Calls a decoder with inputs that libFuzzer makes up. Started by Tools/fuzz:
//
//   esker-fuzz --list                     the names of the targets, each with the length of its longest input
//   esker-fuzz TARGET --samples DIRECTORY writes the inputs to begin with
//   esker-fuzz TARGET OPTION...           fuzzes; the options are those of libFuzzer
//
// A function, since closures in this file would all be bound to the main actor.
run()
