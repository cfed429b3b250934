extension Scenario {
  static let all = reading + segments + stores + fronts
}
