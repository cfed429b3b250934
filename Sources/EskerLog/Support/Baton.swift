/// Where a process has left the log, for the next one to go on, as words of `LOCK`. Only a process that has followed since before it was
/// written may trust it, and only if it has read exactly that much.
struct Baton: Equatable {
  /// The tail, and the offset behind its last record; 0 if there is none to go on in.
  var segment: UInt64 = 0
  var offset: UInt64 = 0
  /// The last write, the number of the next, and the last that is durable.
  var last: UInt64 = 0
  var nextSequence: UInt64 = 0
  var durable: UInt64 = 0
  /// What the tail says of records that have replaced others; see ``ReuseWords``.
  var sum: UInt64 = 0
  var sumStart: UInt64 = 0
  var lastReuse: UInt64 = 0
  /// The last write that has replaced another, in whatever segment.
  var reusedThrough: UInt64 = 0
  /// The id of the next segment.
  var nextSegmentID: UInt64 = 0
  /// The store time, and the nanoseconds for which the machine had been up by then.
  var time: UInt64 = 0
  var uptime: UInt64 = 0

  private static let fields: [WritableKeyPath<Baton, UInt64> & Sendable] = [
    \.segment, \.offset, \.last, \.nextSequence, \.durable, \.sum, \.sumStart, \.lastReuse, \.reusedThrough,
    \.nextSegmentID, \.time, \.uptime,
  ]

  static var count: Int { fields.count }

  init() {}

  init(_ values: [UInt64]) {
    for (field, value) in zip(Self.fields, values) { self[keyPath: field] = value }
  }

  var values: [UInt64] { Self.fields.map { self[keyPath: $0] } }
}
