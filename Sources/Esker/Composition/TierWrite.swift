/// The steps of one write to a front and a back, for calls that wait and for calls that suspend.
struct TierWrite<Value: Sendable>: Sendable {
  enum Step: Sendable {
    case front(StorageRequest.Write<Value>)
    case back(StorageRequest.Write<Value>)
  }

  private let call: StorageRequest.Write<Value>
  private let policy: TierPolicy
  private var steps: [Step] = []
  /// What the tier that decides did.
  private var decided: StorageRequest.Receipt?
  private var wasInOther = false
  private var failure: StorageError?
  private var isUndoing = false

  init(_ call: StorageRequest.Write<Value>, _ policy: TierPolicy) {
    self.call = call
    self.policy = policy
    steps = isFrontFirst ? [.front(inFront(call))] : [.back(call)]
  }

  /// The call as the front gets it where the back decides.
  private func inFront(_ call: StorageRequest.Write<Value>) -> StorageRequest.Write<Value> {
    if policy.isLedByFront { return call }
    var call = call
    call.expiry = call.expiry?.inFront
    return call
  }

  /// A condition holds or not in the tier that decides, which is therefore written first.
  private var isFrontFirst: Bool {
    if policy.isLedByFront { return true }
    guard policy.set == .frontFirst, call.condition == .always else { return false }
    if case .set = call.action { return true }
    return false
  }

  /// Whether writes that overlapped may have reached the tiers in different orders.
  var wroteBoth: Bool { !policy.isLedByFront && policy.set != .backOnly }

  /// What is to be done next; nil at the end.
  var next: Step? { steps.first }

  mutating func frontDid(_ receipt: StorageRequest.Receipt) {
    steps.removeFirst()
    if isUndoing { return }
    if !isFrontFirst {
      wasInOther = receipt.wasThere
    } else if decided == nil {
      decided = receipt
      if receipt.isDone, policy.set != .frontOnly { steps = [.back(mirrored(receipt))] }
    }
  }

  mutating func backDid(_ receipt: StorageRequest.Receipt) {
    steps.removeFirst()
    if isFrontFirst {
      wasInOther = receipt.wasThere
      // The back decides where it is read. What goes there sooner must not be in front.
      if !policy.isLedByFront {
        if receipt.expiry != .never, receipt.expiry != decided?.expiry {
          steps = [.front(StorageRequest.Write(.remove))]
        }
        decided = receipt
      }
    } else {
      decided = receipt
      if receipt.isDone { steps = [.front(mirrored(receipt))] }
    }
  }

  /// What the other tier is to do once one has written: without a condition, and with the expiry as it was resolved, unless that
  /// is each tier's own default.
  private func mirrored(_ receipt: StorageRequest.Receipt) -> StorageRequest.Write<Value> {
    if !isFrontFirst, policy.set == .backOnly { return StorageRequest.Write(.remove) }
    switch call.action {
    case .remove: return StorageRequest.Write(.remove, durability: call.durability)
    case .touch, .extend:
      let touch = StorageRequest.Write<Value>(.touch, if: .present, expiry: receipt.expiry, durability: call.durability)
      return isFrontFirst ? touch : inFront(touch)
    case .set:
      var write = call
      write.condition = .always
      write.skipsUnchanged = false
      if !isFrontFirst {
        write.expiry = receipt.expiry
        return inFront(write)
      }
      // Never, where the front has a default of its own, is for the front alone.
      if let expiry = call.expiry, expiry != .never { write.expiry = receipt.expiry }
      return write
    }
  }

  /// A step failed. Throws if nothing is left to be done.
  mutating func failed(_ error: StorageError, back name: String) throws(StorageError) {
    let step = steps.removeFirst()
    if isUndoing { throw failure ?? error }
    switch step {
    case .front where decided != nil:
      // The value is where it lasts. What matters is that the front does not have the old one.
      break
    case .front, .back:
      if policy.isLedByFront {
        // What the front has stays. It must not look as if nothing had been written.
        if decided != nil, !error.leavesDoubt { throw .back(name: name, underlying: error) }
        throw error
      }
      if decided == nil, !error.leavesDoubt { throw error }
      // It may have been written all the same, so the front must answer neither with what was there before nor with what the back
      // does not have.
      failure = error
    }
    steps = [.front(StorageRequest.Write(.remove))]
    isUndoing = true
  }

  /// What the write did.
  func receipt() throws(StorageError) -> StorageRequest.Receipt {
    if let failure { throw failure }
    var receipt = decided ?? StorageRequest.Receipt(isDone: false)
    if case .remove = call.action, wasInOther { receipt.wasThere = true }
    return receipt
  }
}

extension Expiry {
  /// The expiry that the front is given of a value that has this one in the back: where that is never, the front's own default.
  var inFront: Expiry? { self == .never ? nil : self }
}
