/// What to say when a key or a value that begins with a dash was taken for an option.
enum DashHint {
  /// The hint for the arguments of a command that were refused; nil if that cannot be why.
  static func text(for arguments: [String]) -> String? {
    guard let command = arguments.first, CommandNames.ofKeys.contains(command), !arguments.contains("--"),
      let place = arguments.firstIndex(where: { isValue($0) })
    else { return nil }
    var text = "put -- ahead of a key or value that begins with a dash"
    // Behind it nothing is an option any more.
    let isLast = arguments[place...].allSatisfy { !$0.hasPrefix("--") }
    if isLast {
      let words = ["esker"] + arguments[..<place] + ["--"] + arguments[place...]
      text += ": " + words.map { quotedForShell($0) }.joined(separator: " ")
    }
    return text
  }

  /// Whether an argument begins with a dash and is no option of these commands.
  private static func isValue(_ argument: String) -> Bool {
    argument.count > 1 && argument.hasPrefix("-") && !argument.hasPrefix("--") && !["-q", "-h"].contains(argument)
  }
}
