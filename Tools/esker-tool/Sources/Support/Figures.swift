/// Prints the result of a command, as text or JSON.
func printFigures(_ figures: KeyValuePairs<String, Int>, text: String, asJSON: Bool) throws {
  var output = BufferedOutput.standard()
  if asJSON {
    try output.write(JSONWriter.line { $0.fields(figures) })
  } else {
    try output.write(text + "\n")
  }
  try output.flush()
}
