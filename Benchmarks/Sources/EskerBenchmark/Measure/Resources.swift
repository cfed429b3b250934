import CLimits

/// This process's memory, and the bytes it has passed to the device.
struct Resources {
  var anonymous: Int
  var resident: Int
  var written: Int

  static func now() -> Resources {
    Resources(
      anonymous: Int(bench_anonymous_bytes()),
      resident: Int(bench_resident_bytes()),
      written: Int(bench_written_bytes())
    )
  }
}
