struct JSONReport: Encodable {
  var machine = Machine.description
  var settings: [String]
  var goals: [Verdict]
  var results: [CellResult]

  init(results: [CellResult]) {
    settings = Settings.lines(results)
    goals = GoalTable.verdicts(results)
    self.results = results
  }
}
