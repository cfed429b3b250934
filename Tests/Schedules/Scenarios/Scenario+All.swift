extension Scenario {
  static let all = reading + replacing + segments + waiting + stores + turns + fronts
}
