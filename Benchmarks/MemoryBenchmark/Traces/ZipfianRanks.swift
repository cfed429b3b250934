import Foundation

/// Ranks 0 ..< count with probability proportional to 1 / (rank + 1)^0.99 (Gray et al., "Quickly generating billion-record synthetic databases").
package struct ZipfianRanks {
  private let count: Int
  private let theta = 0.99
  private let zeta: Double
  private let alpha: Double
  private let eta: Double

  package init(count: Int) {
    self.count = count
    var sum = 0.0
    for rank in 1...count { sum += 1 / pow(Double(rank), theta) }
    zeta = sum
    alpha = 1 / (1 - theta)
    eta = (1 - pow(2 / Double(count), 1 - theta)) / (1 - (1 + pow(0.5, theta)) / sum)
  }

  /// The rank a uniform number in 0 ..< 1 stands for.
  package func rank(for unit: Double) -> Int {
    let scaled = unit * zeta
    if scaled < 1 { return 0 }
    if scaled < 1 + pow(0.5, theta) { return 1 }
    return min(Int(Double(count) * pow(eta * unit - eta + 1, alpha)), count - 1)
  }
}
