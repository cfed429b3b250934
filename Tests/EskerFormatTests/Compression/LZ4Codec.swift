import EskerBundledLZ4
import EskerFormat
import Testing

/// The same compression code with one LZ4 or the other. Levels are numbers here: 0 is the fast one.
struct LZ4Codec: CustomTestStringConvertible, Sendable {
  typealias Source = UnsafeRawBufferPointer
  typealias Target = UnsafeMutableRawBufferPointer

  let testDescription: String
  fileprivate let bound: @Sendable (Int) -> Int?
  fileprivate let start: @Sendable (_ level: Int32, _ dictionary: [UInt8]) -> (Source, Target) -> Int?
  fileprivate let load: @Sendable (_ level: Int32, _ dictionary: Source, Source, Target) -> Int32
  fileprivate let decode: @Sendable (_ block: Source, Target, _ dictionary: Source) -> Bool

  /// What the engine uses here: the system's, but on Apple's platforms the package's.
  static let engine = LZ4Codec(
    testDescription: "engine",
    bound: { EskerFormat.LZ4.bound($0) },
    start: { level, dictionary in
      var compressor = EskerFormat.LZ4Compressor(level: level == 0 ? .fast : .high(level), dictionary: dictionary)
      return { compressor.compress($0, into: $1) }
    },
    load: { level, dictionary, source, target in
      let level: EskerFormat.LZ4Level = level == 0 ? .fast : .high(level)
      return withState(EskerFormat.LZ4Library.stateSize(level)) { state in
        EskerFormat.LZ4Library.load(dictionary, level, into: state)
        guard let from = source.baseAddress, let to = target.baseAddress, let state = state.baseAddress else {
          return -1
        }
        return EskerFormat.LZ4Library.compress(from, Int32(source.count), into: to, Int32(target.count), level, state)
      }
    },
    decode: { EskerFormat.LZ4.decompress($0, into: $1, dictionary: $2) }
  )

  /// The package's own.
  static let bundled = LZ4Codec(
    testDescription: "bundled",
    bound: { EskerBundledLZ4.LZ4.bound($0) },
    start: { level, dictionary in
      var compressor = EskerBundledLZ4.LZ4Compressor(level: level == 0 ? .fast : .high(level), dictionary: dictionary)
      return { compressor.compress($0, into: $1) }
    },
    load: { level, dictionary, source, target in
      let level: EskerBundledLZ4.LZ4Level = level == 0 ? .fast : .high(level)
      return withState(EskerBundledLZ4.LZ4Library.stateSize(level)) { state in
        EskerBundledLZ4.LZ4Library.load(dictionary, level, into: state)
        guard let from = source.baseAddress, let to = target.baseAddress, let state = state.baseAddress else {
          return -1
        }
        return EskerBundledLZ4.LZ4Library.compress(
          from,
          Int32(source.count),
          into: to,
          Int32(target.count),
          level,
          state
        )
      }
    },
    decode: { EskerBundledLZ4.LZ4.decompress($0, into: $1, dictionary: $2) }
  )

  static let all = [engine, bundled]

  /// The levels that stores use.
  static let levels: [Int32] = [0] + Array(3...12)

  private static func withState(_ size: Int, _ body: (Target) -> Int32) -> Int32 {
    let state = Target.allocate(byteCount: size, alignment: 64)
    defer { state.deallocate() }
    return body(state)
  }
}

extension LZ4Codec {
  func longest(_ count: Int) -> Int? { bound(count) }

  /// One compressor, for several blocks.
  func compressor(level: Int32, dictionary: [UInt8] = []) -> BlockCompressor {
    BlockCompressor(bound: bound, body: start(level, dictionary))
  }

  /// Compresses with a state that the dictionary was loaded into just before.
  func compressPlainly(_ source: [UInt8], level: Int32, dictionary: [UInt8]) -> [UInt8]? {
    dictionary.withUnsafeBytes { dictionary in
      BlockCompressor(bound: bound) { Int(load(level, dictionary, $0, $1)) }(source)
    }
  }

  /// The plain bytes, or `nil` if the block does not fill `count` bytes. Checks that nothing outside of them is written.
  func decompress(_ block: [UInt8], _ count: Int, _ dictionary: [UInt8] = []) -> [UInt8]? {
    var target = [UInt8](repeating: 0xcc, count: 64 + count + 64)
    let done = block.withUnsafeBytes { block in
      dictionary.withUnsafeBytes { dictionary in
        target.withUnsafeMutableBytes { decode(block, Target(rebasing: $0[64..<(64 + count)]), dictionary) }
      }
    }
    #expect(target.prefix(64).allSatisfy { $0 == 0xcc } && target.suffix(64).allSatisfy { $0 == 0xcc })
    return done ? Array(target[64..<(64 + count)]) : nil
  }
}

struct BlockCompressor {
  fileprivate let bound: (Int) -> Int?
  fileprivate let body: (LZ4Codec.Source, LZ4Codec.Target) -> Int?

  /// The block, or `nil` if it is longer than `capacity`.
  func callAsFunction(_ source: [UInt8], capacity: Int? = nil) -> [UInt8]? {
    var target = [UInt8](repeating: 0xcc, count: capacity ?? bound(source.count) ?? 0)
    let length = source.withUnsafeBytes { source in
      target.withUnsafeMutableBytes { body(source, $0) }
    }
    return length.map { Array(target[..<$0]) }
  }
}
