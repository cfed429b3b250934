/// Prints the result of a command, as text or JSON.
func printFigures(_ figures: KeyValuePairs<String, Int>, text: String, asJSON: Bool) throws {
  try BufferedOutput.print(asJSON ? JSONWriter.line { $0.fields(figures) } : Array("\(text)\n".utf8))
}

/// Says what a command has done: as JSON on standard output, or else, unless it is to be quiet, as a line on standard error.
func reportDone(_ text: String, asJSON: Bool, isQuiet: Bool, _ fields: (inout JSONWriter) -> Void) throws(ToolError) {
  if asJSON {
    try BufferedOutput.print(JSONWriter.line(fields))
  } else if !isQuiet {
    StandardError.write(text + "\n")
  }
}
