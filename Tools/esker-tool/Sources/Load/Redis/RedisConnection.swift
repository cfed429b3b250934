import Esker
import Foundation

/// A connection to a server of Redis or Valkey: sends commands, and reads the parts that their answers are made of.
///
/// The answers come through a reader of the connection's descriptor, which owns that.
struct RedisConnection {
  let address: RedisAddress
  let descriptor: Int32

  /// One whose commands go to a descriptor.
  init(_ address: RedisAddress, descriptor: Int32) {
    self.address = address
    self.descriptor = descriptor
  }

  /// - Throws: ``ToolError/system(operation:path:errno:)``; ``ToolError/noServer(_:)``.
  init(_ address: RedisAddress) throws(ToolError) {
    self.address = address
    guard let found = SystemCalls.connect(address.host, port: address.port) else { throw .noServer(address.host) }
    guard found.descriptor >= 0 else {
      throw .system(operation: "connect to", path: address.text, errno: found.code)
    }
    descriptor = found.descriptor
  }

  /// Sends commands, of which each is a list of arguments.
  func send(_ commands: [[[UInt8]]]) throws(ToolError) {
    var bytes: [UInt8] = []
    for command in commands {
      bytes += Array("*\(command.count)\r\n".utf8)
      for argument in command {
        bytes += Array("$\(argument.count)\r\n".utf8)
        bytes += argument
        bytes += [0x0D, 0x0A]
      }
    }
    var sent = 0
    while sent < bytes.count {
      let (count, code) = bytes.lend(sent..<bytes.count) { SystemCalls.write($0, to: descriptor) }
      if count >= 0 {
        sent += count
      } else if code != EINTR {
        throw .system(operation: "write to", path: address.text, errno: code)
      }
    }
  }

  /// The first byte of an answer, and the rest of its line.
  private func line(_ reader: inout LineReader) throws(ToolError) -> (kind: UInt8, text: String) {
    guard case .text(let range) = try reader.next(), range.count >= 2, reader.buffer[range.upperBound - 1] == 0x0D
    else {
      throw fault("the server closed the connection, or does not speak as Redis does")
    }
    let text = String(decoding: reader.buffer[range.lowerBound + 1..<range.upperBound - 1], as: UTF8.self)
    guard reader.buffer[range.lowerBound] != UInt8(ascii: "-") else { throw fault(text) }
    return (reader.buffer[range.lowerBound], text)
  }

  /// Expects that a command has been done.
  func expectDone(_ reader: inout LineReader) throws(ToolError) {
    guard try line(&reader).kind == UInt8(ascii: "+") else { throw unexpected() }
  }

  func integer(_ reader: inout LineReader) throws(ToolError) -> Int64 {
    let (kind, text) = try line(&reader)
    guard kind == UInt8(ascii: ":"), let number = Int64(text) else { throw unexpected() }
    return number
  }

  /// How many answers follow as one list.
  func listCount(_ reader: inout LineReader) throws(ToolError) -> Int {
    let (kind, text) = try line(&reader)
    guard kind == UInt8(ascii: "*"), let count = Int(text), count >= 0 else { throw unexpected() }
    return count
  }

  /// How long the string is that follows; nil if there is none.
  func stringLength(_ reader: inout LineReader) throws(ToolError) -> Int? {
    let (kind, text) = try line(&reader)
    guard kind == UInt8(ascii: "$"), let length = Int(text), length >= -1 else { throw unexpected() }
    return length < 0 ? nil : length
  }

  /// The string that follows; nil if it is longer than a limit, and then it is passed.
  func string(limit: Int, _ reader: inout LineReader) throws(ToolError) -> [UInt8]? {
    guard let length = try stringLength(&reader) else { throw unexpected() }
    var bytes: [UInt8]?
    if length <= limit {
      guard let range = try reader.bytes(length) else { throw fault("the connection ended") }
      bytes = Array(reader.buffer[range])
    } else {
      try pass(length, &reader)
    }
    try endString(&reader)
    return bytes
  }

  func pass(_ count: Int, _ reader: inout LineReader) throws(ToolError) {
    var left = count
    while left > 0 {
      let piece = min(left, 1 << 16)
      guard try reader.bytes(piece) != nil else { throw fault("the connection ended") }
      left -= piece
    }
  }

  /// Passes what is behind a string.
  func endString(_ reader: inout LineReader) throws(ToolError) {
    guard let range = try reader.bytes(2), reader.buffer[range].elementsEqual([0x0D, 0x0A]) else { throw unexpected() }
  }

  func unexpected() -> ToolError { fault("an answer that Redis does not give") }

  func fault(_ why: String) -> ToolError { .programFailed(address.text, why: why) }
}
