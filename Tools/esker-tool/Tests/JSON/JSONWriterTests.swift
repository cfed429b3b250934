import Foundation
import Testing

@testable import esker_tool

@Suite struct JSONWriterTests {
  @Test func fieldsAndElementsAreSeparated() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("a")
    writer.value(1)
    writer.name("b")
    writer.beginArray()
    writer.value(true)
    writer.null()
    writer.value(1.5)
    writer.value(Double.nan)
    writer.beginObject()
    writer.endObject()
    writer.endArray()
    writer.name("c")
    writer.value(UInt64.max)
    writer.endObject()
    writer.newline()
    let expected = #"{"a":1,"b":[true,null,1.5,null,{}],"c":18446744073709551615}"# + "\n"
    #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
  }

  @Test func everyCharacterSurvivesQuoting() throws {
    let text = String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init))) + "🏔\u{2028}"
    var writer = JSONWriter()
    writer.value(text)
    let decoded = try JSONSerialization.jsonObject(with: Data(writer.bytes), options: .fragmentsAllowed)
    #expect(decoded as? String == text)
  }

  @Test func bytesThatAreNoTextAreInBase64() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("key", bytes: Array("é".utf8))
    writer.field("key", bytes: [0xFB, 0xFF, 0])
    writer.field("key", bytes: [0xFF])
    writer.endObject()
    #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"key":"é","key64":"+/8A","key64":"/w=="}"#)
  }
}
