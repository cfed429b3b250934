import Esker
import Foundation
import Testing

@Suite struct WallTimeTests {
  @Test func dateBecomesMilliseconds() {
    #expect(WallTime(Date(timeIntervalSince1970: 0)).millisecondsSince1970 == 0)
    #expect(WallTime(Date(timeIntervalSince1970: 1.5)).millisecondsSince1970 == 1500)
    #expect(WallTime(Date(timeIntervalSince1970: -1.25)).millisecondsSince1970 == -1250)
    #expect(WallTime(Date(timeIntervalSince1970: 0.0014)).millisecondsSince1970 == 1)
    #expect(WallTime(Date(timeIntervalSince1970: 0.0016)).millisecondsSince1970 == 2)
  }

  @Test(arguments: [0, 1, 999, -1, -999, 1_772_366_400_123, -62_135_596_800_001, 253_402_300_799_999])
  func millisecondsSurviveTheWayThroughADate(milliseconds: Int64) {
    let time = WallTime(millisecondsSince1970: milliseconds)
    #expect(WallTime(time.date) == time)
  }

  @Test func dateBeyondTheRangeIsClamped() {
    #expect(WallTime(Date(timeIntervalSince1970: 1e300)).millisecondsSince1970 == .max)
    #expect(WallTime(Date(timeIntervalSince1970: -1e300)).millisecondsSince1970 == .min)
    #expect(WallTime(Date(timeIntervalSince1970: .infinity)).millisecondsSince1970 == .max)
    #expect(WallTime(Date(timeIntervalSince1970: .nan)).millisecondsSince1970 == .min)
  }

  @Test func expiryAtADateIsExpiryAtItsInstant() {
    let date = Date(timeIntervalSince1970: 1_772_366_400.25)
    #expect(Expiry.at(date) == Expiry.at(WallTime(millisecondsSince1970: 1_772_366_400_250)))
  }

  @Test func valueExpiresAtItsDate() throws {
    try withTemporaryStore { store in
      try store.put("old", forKey: "past", expiry: .at(Date(timeIntervalSinceNow: -1)))
      try store.put("new", forKey: "future", expiry: .at(Date(timeIntervalSinceNow: 3600)))
      #expect(try store.get("past") == nil)
      #expect(try store.get("future") == Array("new".utf8))
    }
  }
}
