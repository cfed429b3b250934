/// Threads that do a few things beside each other, and what must hold whatever their order is.
struct Scenario: Sendable {
  let name: String
  /// What runs beside what.
  let about: String
  /// How many things have to happen in some order for the mistakes that are looked for.
  let depth: Int
  /// Makes a store, runs the threads and checks what they leave.
  let body: @Sendable () throws -> Void

  init(_ name: String, depth: Int = 3, _ about: String, _ body: @escaping @Sendable () throws -> Void) {
    self.name = name
    self.about = about
    self.depth = depth
    self.body = body
  }
}
