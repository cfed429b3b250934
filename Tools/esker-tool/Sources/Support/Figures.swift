/// Prints the result of a command, as text or JSON.
func printFigures(_ figures: [(name: String, value: Int)], text: String, asJSON: Bool) throws {
  var output = BufferedOutput.standard()
  if asJSON {
    var writer = JSONWriter()
    writer.beginObject()
    for figure in figures {
      writer.name(figure.name)
      writer.value(figure.value)
    }
    writer.endObject()
    writer.newline()
    try output.write(writer.bytes)
  } else {
    try output.write(text + "\n")
  }
  try output.flush()
}
