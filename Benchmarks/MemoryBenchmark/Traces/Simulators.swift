/// A policy on numbered keys, of which only the hits are asked.
protocol Simulator {
  static var name: String { get }
  init(capacity: Int, keyCount: Int)
  /// Requests a key; true if it was there.
  mutating func request(_ key: Int) -> Bool
}

/// Keys in the order in which they came; each is in one such list at most.
struct KeyList {
  private var newer: [Int32]
  private var older: [Int32]
  private(set) var newest: Int32 = -1
  private(set) var oldest: Int32 = -1
  private(set) var count = 0

  init(keyCount: Int) {
    newer = Array(repeating: -1, count: keyCount)
    older = Array(repeating: -1, count: keyCount)
  }

  mutating func push(_ key: Int) {
    newer[key] = -1
    older[key] = newest
    if newest < 0 { oldest = Int32(key) } else { newer[Int(newest)] = Int32(key) }
    newest = Int32(key)
    count += 1
  }

  mutating func remove(_ key: Int) {
    if newer[key] < 0 { newest = older[key] } else { older[Int(newer[key])] = older[key] }
    if older[key] < 0 { oldest = newer[key] } else { newer[Int(older[key])] = newer[key] }
    count -= 1
  }

  mutating func popOldest() -> Int {
    let key = Int(oldest)
    remove(key)
    return key
  }

  func newerThan(_ key: Int) -> Int { Int(newer[key]) }
}

package struct LRU: Simulator {
  static let name = "LRU"
  private let capacity: Int
  private var list: KeyList
  private var isHeld: [Bool]

  package init(capacity: Int, keyCount: Int) {
    self.capacity = capacity
    list = KeyList(keyCount: keyCount)
    isHeld = Array(repeating: false, count: keyCount)
  }

  package mutating func request(_ key: Int) -> Bool {
    let hit = isHeld[key]
    if hit {
      list.remove(key)
    } else {
      if list.count >= capacity { isHeld[list.popOldest()] = false }
      isHeld[key] = true
    }
    list.push(key)
    return hit
  }
}

struct SIEVE: Simulator {
  static let name = "SIEVE"
  private let capacity: Int
  private var list: KeyList
  private var isHeld: [Bool]
  private var isVisited: [Bool]
  private var hand = -1

  init(capacity: Int, keyCount: Int) {
    self.capacity = capacity
    list = KeyList(keyCount: keyCount)
    isHeld = Array(repeating: false, count: keyCount)
    isVisited = Array(repeating: false, count: keyCount)
  }

  mutating func request(_ key: Int) -> Bool {
    if isHeld[key] {
      isVisited[key] = true
      return true
    }
    if list.count >= capacity {
      var victim = hand < 0 ? Int(list.oldest) : hand
      while isVisited[victim] {
        isVisited[victim] = false
        victim = list.newerThan(victim)
        if victim < 0 { victim = Int(list.oldest) }
      }
      hand = list.newerThan(victim)
      list.remove(victim)
      isHeld[victim] = false
    }
    isHeld[key] = true
    isVisited[key] = false
    list.push(key)
    return false
  }
}

/// A small queue of a tenth, two uses to move on, as many ghosts as the main queue is long.
struct S3FIFO: Simulator {
  static let name = "S3-FIFO"
  private enum Place { case nowhere, small, main }
  private let capacity: Int
  private let smallTarget: Int
  private let ghostReach: Int
  private var small: KeyList
  private var main: KeyList
  private var place: [Place]
  private var uses: [UInt8]
  private var ghost: [Int]
  private var ghostCount = 0

  init(capacity: Int, keyCount: Int) {
    self.capacity = capacity
    smallTarget = max(1, capacity / 10)
    ghostReach = capacity * 9 / 10
    small = KeyList(keyCount: keyCount)
    main = KeyList(keyCount: keyCount)
    place = Array(repeating: .nowhere, count: keyCount)
    uses = Array(repeating: 0, count: keyCount)
    ghost = Array(repeating: 0, count: keyCount)
  }

  mutating func request(_ key: Int) -> Bool {
    if place[key] != .nowhere {
      uses[key] = min(3, uses[key] + 1)
      return true
    }
    let isGhost = ghost[key] != 0 && ghostCount - ghost[key] < ghostReach
    while small.count + main.count >= capacity { evict() }
    uses[key] = 0
    ghost[key] = 0
    if isGhost {
      place[key] = .main
      main.push(key)
    } else {
      place[key] = .small
      small.push(key)
    }
    return false
  }

  private mutating func evict() {
    while small.count >= smallTarget, small.count > 0 {
      let key = small.popOldest()
      if uses[key] < 2 {
        place[key] = .nowhere
        ghostCount += 1
        ghost[key] = ghostCount
        return
      }
      uses[key] = 0
      place[key] = .main
      main.push(key)
    }
    while main.count > 0 {
      let key = main.popOldest()
      if uses[key] == 0 {
        place[key] = .nowhere
        return
      }
      uses[key] -= 1
      main.push(key)
    }
  }
}

/// A window of a hundredth, a protected part of four fifths of the rest, exact frequencies up to 15 that are halved now and then.
struct WTinyLFU: Simulator {
  static let name = "W-TinyLFU"
  private enum Place { case nowhere, window, probation, protected }
  private let capacity: Int
  private let windowSize: Int
  private let protectedSize: Int
  private var window: KeyList
  private var probation: KeyList
  private var protected: KeyList
  private var place: [Place]
  private var frequency: [UInt8]
  private var additions = 0

  init(capacity: Int, keyCount: Int) {
    self.capacity = capacity
    windowSize = max(1, capacity / 100)
    protectedSize = (capacity - windowSize) * 4 / 5
    window = KeyList(keyCount: keyCount)
    probation = KeyList(keyCount: keyCount)
    protected = KeyList(keyCount: keyCount)
    place = Array(repeating: .nowhere, count: keyCount)
    frequency = Array(repeating: 0, count: keyCount)
  }

  mutating func request(_ key: Int) -> Bool {
    note(key)
    switch place[key] {
    case .window:
      window.remove(key)
      window.push(key)
    case .probation:
      probation.remove(key)
      place[key] = .protected
      protected.push(key)
      if protected.count > protectedSize {
        let demoted = protected.popOldest()
        place[demoted] = .probation
        probation.push(demoted)
      }
    case .protected:
      protected.remove(key)
      protected.push(key)
    case .nowhere:
      place[key] = .window
      window.push(key)
      if window.count > windowSize { admit(window.popOldest()) }
      return false
    }
    return true
  }

  private mutating func note(_ key: Int) {
    if frequency[key] < 15 {
      frequency[key] += 1
      additions += 1
    }
    if additions >= 10 * capacity {
      for other in frequency.indices { frequency[other] /= 2 }
      additions /= 2
    }
  }

  private mutating func admit(_ candidate: Int) {
    place[candidate] = .nowhere
    if probation.count + protected.count >= capacity - windowSize {
      let isProbation = probation.count > 0
      let victim = Int(isProbation ? probation.oldest : protected.oldest)
      if victim < 0 || frequency[candidate] <= frequency[victim] { return }
      if isProbation { probation.remove(victim) } else { protected.remove(victim) }
      place[victim] = .nowhere
    }
    place[candidate] = .probation
    probation.push(candidate)
  }
}

/// The share of a trace's requests that a policy answers.
func hitRatio<S: Simulator>(_ simulator: S.Type, _ trace: Trace, capacity: Int) -> Double {
  var policy = S(capacity: capacity, keyCount: trace.uniqueCount)
  var hits = 0
  for key in trace.requests where policy.request(key) { hits += 1 }
  return Double(hits) / Double(trace.requests.count)
}

/// What well-known policies answer of a trace.
package func simulatedHitRatios(_ trace: Trace, capacity: Int) -> [(name: String, ratio: Double)] {
  let simulators: [any Simulator.Type] = [LRU.self, SIEVE.self, S3FIFO.self, WTinyLFU.self]
  return simulators.map { ($0.name, hitRatio($0, trace, capacity: capacity)) }
}
