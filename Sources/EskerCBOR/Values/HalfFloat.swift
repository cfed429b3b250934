// `Float16` is missing on some systems that Esker supports, and conversions may quiet a NaN: these work on the bits.

/// The half-precision bits for the value of `single`, or nil if half precision cannot represent it.
@inline(__always)
func halfBits(ofSingle single: UInt32) -> UInt16? {
  let sign = UInt16(truncatingIfNeeded: single >> 16) & 0x8000
  let exponent = Int(single >> 23 & 0xff)
  let fraction = single & 0x7f_ffff
  switch exponent {
  case 0:
    return fraction == 0 ? sign : nil
  case 0xff:
    return fraction & 0x1fff == 0 ? sign | 0x7c00 | UInt16(truncatingIfNeeded: fraction >> 13) : nil
  case 113...142:
    guard fraction & 0x1fff == 0 else { return nil }
    return sign | UInt16(truncatingIfNeeded: (exponent - 112) << 10) | UInt16(truncatingIfNeeded: fraction >> 13)
  case 103...112:
    // Subnormal in half precision: the implied one becomes a bit of the fraction.
    let shift = UInt32(126 - exponent)
    let whole = fraction | 0x80_0000
    guard whole & (1 << shift - 1) == 0 else { return nil }
    return sign | UInt16(truncatingIfNeeded: whole >> shift)
  default:
    return nil
  }
}

/// The single-precision bits for the value of `half`.
func singleBits(ofHalf half: UInt16) -> UInt32 {
  let sign = UInt32(half & 0x8000) << 16
  let exponent = UInt32(half >> 10 & 0x1f)
  let fraction = UInt32(half & 0x3ff)
  switch exponent {
  case 0:
    guard fraction != 0 else { return sign }
    let shift = UInt32(fraction.leadingZeroBitCount) - 21
    return sign | (113 - shift) << 23 | (fraction << (shift + 13) & 0x7f_ffff)
  case 0x1f:
    return sign | 0x7f80_0000 | fraction << 13
  default:
    return sign | (exponent + 112) << 23 | fraction << 13
  }
}

/// The single-precision bits for the value of `double`, or nil if single precision cannot represent it.
@inline(__always)
func singleBits(ofDouble double: Double) -> UInt32? {
  if double.isNaN {
    let bits = double.bitPattern
    guard bits & 0x1fff_ffff == 0 else { return nil }
    return UInt32(truncatingIfNeeded: bits >> 32) & 0x8000_0000 | 0x7f80_0000
      | UInt32(truncatingIfNeeded: bits >> 29) & 0x7f_ffff
  }
  let single = Float(double)
  return Double(single) == double ? single.bitPattern : nil
}

/// The value of single-precision bits, including a NaN's payload.
@inline(__always)
func double(ofSingle bits: UInt32) -> Double {
  let single = Float(bitPattern: bits)
  guard single.isNaN else { return Double(single) }
  return Double(bitPattern: UInt64(bits & 0x8000_0000) << 32 | 0x7ff0_0000_0000_0000 | UInt64(bits & 0x7f_ffff) << 29)
}
