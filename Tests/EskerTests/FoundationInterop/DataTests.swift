import Esker
import Foundation
import Testing

@Suite struct DataTests {
  @Test(arguments: [0, 1, 14, 15, 16, 100, 70_000])
  func dataLendsItsBytes(count: Int) {
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    let lent = data.withBytes { span in span.withUnsafeBytes { Array($0) } }
    #expect(lent == Array(data))
  }

  @Test func sliceLendsItsOwnBytesOnly() {
    let slice = Data(0..<100)[40..<60]
    let lent = slice.withBytes { span in span.withUnsafeBytes { Array($0) } }
    #expect(lent == Array(40..<60))
  }

  @Test func largeDataIsNotCopied() {
    let data = Data(repeating: 1, count: 4096)
    let own = data.withUnsafeBytes { $0.baseAddress.map(Int.init(bitPattern:)) }
    let lent = data.withBytes { span in span.withUnsafeBytes { $0.baseAddress.map(Int.init(bitPattern:)) } }
    #expect(own == lent)
  }

  @Test func errorOfTheBodyKeepsItsType() {
    #expect(throws: StoreError.closed) {
      try Data([1]).withBytes { (_) throws(StoreError) in throw .closed }
    }
  }

  @Test func dataAsKeyAndValueComesBackAsData() throws {
    try withTemporaryStore { store in
      let key = Data([0, 255, 10])
      let value = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
      try store.put(value, forKey: key)
      #expect(try store.getData(key) == value)
      #expect(try store.get([0, 255, 10] as [UInt8]) == Array(value))
      #expect(try store.default.getData(key[0..<2]) == nil)
    }
  }

  @Test func emptyDataIsAValue() throws {
    try withTemporaryStore { store in
      try store.put(Data(), forKey: "empty")
      #expect(try store.getData("empty") == Data())
      #expect(try store.getData("absent") == nil)
    }
  }
}
