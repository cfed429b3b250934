@testable import EskerRemote

/// The errors of the model: some are planted in the core, and some in the client of the remote store, which is the double's here.
enum Plant: String, CaseIterable, Sendable {
  case none
  // In the core.
  case noFence, keepEpoch, persistTrust, forgetOnTimeout, twoWrites, ignoreEcho, trustAtSend, unusedReply, noOrder,
    fillWhileSuspended
  // In the core, of queued writes.
  case trustQueued
  // In the core, of what is served without trust.
  case keepReplaced, neverDoubt
  // In the client.
  case lateTracking, pingLease, counterVersion, noRecheck, noKill, leaseAtReceipt, leaseFromQuestion

  var faults: PlantedFaults {
    switch self {
    case .noFence: .noFence
    case .keepEpoch: .keepEpoch
    case .forgetOnTimeout: .forgetOnTimeout
    case .twoWrites: .twoWrites
    case .ignoreEcho: .ignoreEcho
    case .trustAtSend: .trustAtSend
    case .unusedReply: .unusedReply
    case .noOrder: .noOrder
    case .fillWhileSuspended: .fillWhileSuspended
    case .trustQueued: .trustQueued
    case .keepReplaced: .keepReplaced
    case .neverDoubt: .neverDoubt
    default: []
    }
  }
}
