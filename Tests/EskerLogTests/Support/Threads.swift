import EskerPlatform

/// Runs a body on several threads at once and waits for all; the errors they threw.
@discardableResult
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws -> [any Error] {
  let errors = Guarded<[any Error]>([])
  let threads = try (0..<count).map { number in
    try WorkerThread(name: "test-\(number)") {
      do { try body(number) } catch { errors.withLock { $0.append(error) } }
    }
  }
  for thread in threads { thread.join() }
  return errors.withLock { $0 }
}

/// A flag that threads share.
final class SharedFlag: Sendable {
  private let value = Guarded(false)

  var isRaised: Bool { value.withLock { $0 } }

  func raise() { value.withLock { $0 = true } }
}

/// A number that threads share.
final class SharedCounter: Sendable {
  private let number = Guarded(0)

  var value: Int { number.withLock { $0 } }

  @discardableResult
  func add(_ amount: Int = 1) -> Int {
    number.withLock {
      $0 += amount
      return $0
    }
  }
}
