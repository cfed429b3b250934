extension [UInt8] {
  /// Appends a span's bytes.
  mutating func append(contentsOf span: Span<UInt8>) {
    append(contentsOf: span.bytes)
  }

  /// Appends a span's bytes.
  mutating func append(contentsOf span: RawSpan) {
    span.withUnsafeBytes { append(contentsOf: $0) }
  }
}
