/// An order of a prime number of things, another one for each number that it is made from.
struct Permutation {
  private let count: UInt64
  private let factor: UInt64
  private let shift: UInt64

  init(of count: Int, from number: UInt64) {
    self.count = UInt64(count)
    factor = 1 + mix(number, 1) % UInt64(count - 1)
    shift = mix(number, 2) % UInt64(count)
  }

  /// The thing at a position.
  subscript(position: Int) -> Int {
    Int((UInt64(position) &* factor &+ shift) % count)
  }

  /// Where a thing stands.
  func position(of thing: Int) -> Int {
    let distance = (UInt64(thing) + count - shift) % count
    // By Fermat's little theorem, this power is what undoes the factor.
    var result: UInt64 = 1
    var power = factor
    var exponent = count - 2
    while exponent > 0 {
      if exponent & 1 != 0 { result = result * power % count }
      power = power * power % count
      exponent >>= 1
    }
    return Int(distance * result % count)
  }
}
