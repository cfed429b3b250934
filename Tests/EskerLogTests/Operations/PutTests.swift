import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct PutTests {
  let machine = Machine()
  let store: LogStore

  init() throws {
    store = try machine.open()
  }

  @Test func everyByteSourceIsTakenAsKeyAndAsValue() throws {
    let text = "xkey value"
    let array = bytes("key")
    let contiguous = ContiguousArray(array)
    let slice = bytes("xkey")[1...]
    let sub = text.dropFirst().prefix(3)
    func check(_ what: String, _ read: [UInt8]?) { #expect(read == array, "\(what)") }

    try store.put(array, forKey: array)
    check("array", try store.get("key"))
    try store.put(contiguous, forKey: contiguous)
    check("contiguous array", try store.get(contiguous))
    try store.put(slice, forKey: slice)
    check("slice", try store.get(slice))
    try store.put(sub, forKey: sub)
    check("substring", try store.get(sub))
    try store.put(sub.utf8, forKey: "key".utf8)
    check("UTF-8 views", try store.get(sub.utf8))
    try store.put(ContiguousArray(array).span, forKey: ContiguousArray(array).span)
    check("span", try store.get(ContiguousArray(array).span))
    try store.put(ContiguousArray(array).span.bytes, forKey: ContiguousArray(array).span.bytes)
    check("raw span", try store.get(ContiguousArray(array).span.bytes))
    _ = try array.withUnsafeBytes { try store.put($0, forKey: $0) }
    check("pointer", try array.withUnsafeBytes { try store.get($0) })
    #expect(try store.count() == 1)
  }

  @Test func aStringOfManyScalarsIsStoredAsItsUTF8() throws {
    let text = "Grüße, 世界 🌍"
    try store.put(text, forKey: text)
    #expect(try store.get(Array(text.utf8)) == Array(text.utf8))
  }

  @Test func emptyKeysAndValuesAreOrdinary() throws {
    try store.put([UInt8](), forKey: "")
    #expect(try store.get("") == [])
    try store.put("value", forKey: [UInt8]())
    #expect(try store.get("") == bytes("value"))
    #expect(try store.count() == 1)
    #expect(try store.remove(""))
    #expect(try store.get("") == nil)
  }

  @Test func everyKeyLengthIsKeptApart() throws {
    for length in 0...300 { try store.put("\(length)", forKey: [UInt8](repeating: 7, count: length)) }
    for length in 0...300 {
      #expect(try store.get([UInt8](repeating: 7, count: length)) == bytes("\(length)"))
    }
  }

  @Test func theLongestKeyIsTakenAndOneByteMoreIsATypedError() throws {
    var key = [UInt8](repeating: 1, count: LogStore.maximumKeyLength)
    try store.put("v", forKey: key)
    #expect(try store.get(key) == bytes("v"))
    let before = store.lastSequence
    key.append(1)
    #expect(throws: StoreError.keyTooLong(65_536)) { try store.put("v", forKey: key) }
    #expect(throws: StoreError.keyTooLong(65_536)) { try store.remove(key) }
    #expect(throws: StoreError.keyTooLong(65_536)) { try store.putIfAbsent("v", forKey: key) }
    #expect(throws: StoreError.keyTooLong(65_536)) { try store.write { (b) throws(StoreError) in try b.remove(key) } }
    #expect(try store.get(key) == nil)
    #expect(store.lastSequence == before)
  }

  @Test func aValueThatIsTooLongIsATypedErrorBeforeAnythingIsWritten() throws {
    let length = LogStore.maximumValueLength + 1
    // Only reserved: no page of it is ever touched.
    let memory = try #require(AnonymousMemory.allocate(byteCount: length))
    defer { AnonymousMemory.free(memory, byteCount: length) }
    let value = UnsafeRawBufferPointer(start: memory, count: length)
    #expect(throws: StoreError.valueTooLong(length)) { try store.put(value, forKey: "k") }
    #expect(throws: StoreError.valueTooLong(length)) {
      try store.write { (batch) throws(StoreError) in try batch.put(value, forKey: "k") }
    }
    #expect(store.lastSequence.rawValue == 0)
    #expect(try machine.files(".segment") == [])
  }

  @Test func aValueLargerThanASegmentGetsASegmentOfItsOwn() throws {
    let large = [UInt8](repeating: 9, count: 300_000)
    try store.put("before", forKey: "a")
    try store.put(large, forKey: "large")
    try store.put("after", forKey: "b")
    #expect(try store.get("large") == large)
    try store.close()
    let again = try machine.open()
    #expect(try again.get("large") == large)
    #expect(try again.get("a") == bytes("before"))
    #expect(try again.get("b") == bytes("after"))
    #expect(try again.verify().isClean)
  }

  @Test func versionsRiseByOneWithEachWrite() throws {
    #expect(try store.put("1", forKey: "a").rawValue == 1)
    #expect(try store.put("1", forKey: "a").rawValue == 2)
    try store.remove("a")
    #expect(store.lastSequence.rawValue == 3)
    #expect(try !store.remove("a"))
    #expect(store.lastSequence.rawValue == 3)
    try store.close()
    #expect(try machine.open().put("2", forKey: "a").rawValue == 4)
  }

  @Test func removeTellsWhetherTheKeyWasThere() throws {
    try store.put("1", forKey: "a")
    #expect(try store.remove("a"))
    #expect(try !store.remove("a"))
    #expect(try !store.remove("never"))
    #expect(try store.count() == 0)
    try store.put("2", forKey: "a")
    #expect(try store.get("a") == bytes("2"))
    #expect(try store.count() == 1)
  }
}
