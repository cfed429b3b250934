import EskerPlatform
import Testing

@testable import EskerLog

/// The states that a store may be found in, by what its calls returned and threw.
struct StateSet {
  /// After the end of the process.
  private(set) var afterKill: Set<StoreState>
  /// After a power cut: also what was before the last write that is durable for certain.
  private(set) var afterPowerCut: Set<StoreState>

  /// Of a store that is durable as it is.
  init(_ state: StoreState) {
    afterKill = [state]
    afterPowerCut = [state]
  }

  /// The call has returned.
  mutating func returned(_ call: StoreCall, _ number: Int) {
    var through: Set<StoreState> = []
    let before = afterKill
    afterKill = Set(
      afterKill.compactMap { state in
        let steps = call.steps(number, from: state)
        through.formUnion(steps)
        return steps.last
      }
    )
    if call.isOfManifest {
      afterPowerCut = Set(afterPowerCut.compactMap { call.steps(number, from: $0).last })
    } else if call.isDurable, call != .removeSynced || before != afterKill {
      afterPowerCut = afterKill
    } else {
      // A removal of what is not there writes nothing, so it waits for nothing.
      afterPowerCut.formUnion(through)
    }
  }

  /// The call has thrown.
  mutating func threw(_ promise: Promise, _ call: StoreCall, _ number: Int) {
    var possible: Set<StoreState> = []
    switch promise {
    case .tookNoEffect: return
    case .mayBeThere: for state in afterKill { call.steps(number, from: state).last.map { _ = possible.insert($0) } }
    case .aPrefix: for state in afterKill { possible.formUnion(call.steps(number, from: state)) }
    }
    afterKill.formUnion(possible)
    // An edit of the manifest may be there though writes before it are not.
    if call.isOfManifest { possible = Set(afterPowerCut.compactMap { call.steps(number, from: $0).last }) }
    afterPowerCut.formUnion(possible)
  }

  /// The store was closed, or is known to be durable as it was found.
  mutating func settled() { afterPowerCut = afterKill }
}
