import EskerFormat

extension FuzzTarget {
  /// A packed segment's dictionary, records and cells.
  static let packed = FuzzTarget(
    name: "packed",
    repair: { bytes in
      if bytes.count >= SegmentHeader.length { PackedRepair.records(&bytes) }
    },
    samples: {
      [
        "mixed": try Sample.packedSegment().bytes, "cells": try Sample.packedSegment(isTiny: true).bytes,
      ]
    },
    run: { input in
      guard input.count >= SegmentHeader.length else { return }
      // The numbers of its header are taken as they are.
      let salt = UInt32(littleEndian: input.loadUnaligned(fromByteOffset: 56, as: UInt32.self))
      let length = UInt32(littleEndian: input.loadUnaligned(fromByteOffset: 80, as: UInt32.self)) & 0xfff0
      PackedExamination.examine(input, salt: salt, dictionaryLength: Int(length))
    }
  )

  /// A block of LZ4 behind its dictionary, of which the first byte says how long it is, and the second how much is to come out.
  static let lz4 = FuzzTarget(
    name: "lz4",
    longest: 1024,
    samples: {
      var compressor = Compressor(dictionary: Array("some words, some other words".utf8))
      let value = Array("some words and some words and other words".utf8)
      return ["block": [28, 3] + Array("some words, some other words".utf8) + compressor.compress(value)]
    },
    run: { input in
      guard input.count >= 2 else { return }
      let split = 2 + min(Int(input[0]), input.count - 2)
      let dictionary = UnsafeRawBufferPointer(rebasing: input[2..<split])
      let rest = UnsafeRawBufferPointer(rebasing: input[split...])
      var plain = [UInt8](repeating: 0xcc, count: Int(input[1]) * 16)
      _ = plain.withUnsafeMutableBytes { LZ4.decompress(rest, into: $0, dictionary: dictionary) }
      var compressor = Compressor(dictionary: Array(dictionary))
      let block = compressor.compress(Array(rest))
      var again = [UInt8](repeating: 0, count: rest.count)
      let isWhole = again.withUnsafeMutableBytes { again in
        block.withUnsafeBytes { LZ4.decompress($0, into: again, dictionary: dictionary) }
      }
      require(isWhole && again == Array(rest), "what was compressed is not what it was")
    }
  )
}
