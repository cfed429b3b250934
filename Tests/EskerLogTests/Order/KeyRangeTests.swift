import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct KeyRangeTests {
  private static let keys: [[UInt8]] = [
    [], [0], [0, 0], [0, 255], [1], [1, 2], [254, 255], [255], [255, 0], [255, 255],
  ]

  @Test func endsAreIncludedAsTheirNamesSay() {
    for key in Self.keys {
      for other in Self.keys {
        #expect(KeyRange.from(key).contains(other) == !other.lexicographicallyPrecedes(key))
        #expect(KeyRange.after(key).contains(other) == key.lexicographicallyPrecedes(other))
        #expect(KeyRange.upTo(key).contains(other) == other.lexicographicallyPrecedes(key))
        #expect(KeyRange.through(key).contains(other) == !key.lexicographicallyPrecedes(other))
        #expect(KeyRange.prefix(key).contains(other) == other.starts(with: key), "\(other) and the prefix \(key)")
        #expect(KeyRange.all.contains(other))
      }
    }
  }

  @Test func whatNarrowsARangeNeverWidensIt() {
    let ends: [(KeyRange, [UInt8]) -> KeyRange] = [
      { $0.from($1) }, { $0.after($1) }, { $0.upTo($1) }, { $0.through($1) }, { $0.prefix($1) },
    ]
    for first in ends {
      for second in ends {
        for one in Self.keys {
          for two in Self.keys {
            let range = second(first(.all, one), two)
            for key in Self.keys {
              let isInBoth = first(.all, one).contains(key) && second(.all, two).contains(key)
              #expect(range.contains(key) == isInBoth, "\(key) in \(range)")
            }
          }
        }
      }
    }
  }

  @Test func keysMayBeAnyBytes() {
    #expect(KeyRange.prefix("user/") == KeyRange.from("user/").upTo("user0"))
    #expect(KeyRange.prefix(ContiguousArray("user/".utf8).span) == .prefix(Array("user/".utf8)))
  }
}
