/// What the driver tells a process that it starts.
struct Assignment: Sendable {
  /// Where the round has its files; the store is in `store`.
  var directory = ""
  var configuration = Configuration()
  var seed: UInt64 = 0
  /// 0 for the writer; readers are numbered from 1.
  var participant = 0
  /// Kinds of findings that are passed over.
  var ignored: Set<String> = []

  var arguments: [String] {
    [directory, configuration.text, "\(seed)", "\(participant)"] + ignored.sorted()
  }

  init(directory: String, _ configuration: Configuration, seed: UInt64, participant: Int, ignored: Set<String>) {
    self.directory = directory
    self.configuration = configuration
    self.seed = seed
    self.participant = participant
    self.ignored = ignored
  }

  init(_ arguments: ArraySlice<String>) throws(UsageError) {
    let words = Array(arguments)
    guard words.count >= 4, let seed = UInt64(words[2]), let participant = Int(words[3]) else {
      throw UsageError("writer, reader and checker are started by the program itself")
    }
    directory = words[0]
    try configuration.apply(words[1])
    self.seed = seed
    self.participant = participant
    ignored = Set(words[4...])
  }
}
