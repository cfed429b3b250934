import EskerPlatform

/// What the command line asks for.
struct SearchOptions {
  private(set) var scenario: String?
  private(set) var budget = Budget.seconds(10)
  private(set) var seed: UInt64 = 1
  private(set) var replay: UInt64?
  private(set) var deviations: [Int: Int]?
  private(set) var lists = false
  private(set) var isExhaustive = false
  /// How many scenarios are searched at once.
  private(set) var jobs = Processors.count

  /// Nil if it cannot be understood; says so.
  init?(_ arguments: ArraySlice<String>) {
    var rest = arguments
    while let argument = rest.popFirst() {
      switch argument {
      case "--list": lists = true
      case "--exhaustive": isExhaustive = true
      case "--schedules", "--seconds", "--seed", "--replay", "--schedule", "--jobs":
        guard let value = rest.popFirst(), set(argument, value) else {
          print("\(argument) needs a value")
          return nil
        }
      default:
        guard !argument.hasPrefix("-") else {
          print("there is no option \(argument)")
          return nil
        }
        scenario = argument
      }
    }
    if replay != nil || deviations != nil, scenario == nil {
      print("a replay needs a scenario")
      return nil
    }
  }

  private mutating func set(_ option: String, _ value: String) -> Bool {
    switch option {
    case "--schedules": Int(value).map { budget = .schedules($0) } != nil
    case "--seconds": Int(value).map { budget = .seconds($0) } != nil
    case "--seed": UInt64(value).map { seed = $0 } != nil
    case "--jobs": Int(value).map { jobs = max($0, 1) } != nil
    case "--replay": UInt64(value).map { replay = $0 } != nil
    default: setDeviations(value)
    }
  }

  private mutating func setDeviations(_ value: String) -> Bool {
    var list: [Int: Int] = [:]
    for pair in value == "usual" ? [] : value.split(separator: ",") {
      let numbers = pair.split(separator: ":").compactMap { Int($0) }
      guard numbers.count == 2 else { return false }
      list[numbers[0]] = numbers[1]
    }
    deviations = list
    return true
  }
}
