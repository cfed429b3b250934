// One call and no closure: closures in this file would be isolated to the main actor and checked at each call.
runCryptoBenchmark(CommandLine.arguments)
