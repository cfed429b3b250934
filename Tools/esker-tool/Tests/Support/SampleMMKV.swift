import Foundation

/// Small files that MMKV 2.4 has written on Linux, without the zeros with which it fills a page.
struct SampleMMKV {
  let entries: [UInt8]
  let companion: [UInt8]

  private init(_ entries: String, _ companion: String) {
    self.entries = Self.page(entries)
    self.companion = Self.page(companion)
  }

  private static func page(_ text: String) -> [UInt8] {
    let bytes = Array(Data(base64Encoded: text) ?? Data())
    return bytes + repeatElement(0, count: 4096 - bytes.count)
  }

  /// Writes both files, and returns the path of the entries.
  func write(_ scratch: Scratch, as name: String) throws -> String {
    _ = try scratch.file(name + ".crc", companion)
    return try scratch.file(name, entries)
  }

  /// Text, bytes, flags and numbers of all types, values that were replaced, and one that was removed.
  static let plain = SampleMMKV(
    """
    AAAAALy7708CYXQHBlZpZW5uYQJkZQcGQmVybGluAmZyBgVQYXJpcwJhdAUEV2llbgJkZQAFZW1wdHkBAAN5ZXMBAQJubwEAA2kzMgr5//////\
    ////8BBXNtYWxsAqwCA2k2NAbLieyP9yMFcmF0aW8ImpmZmZmZuT8EZml2ZQgAAAAAAAAUQAVmbG9hdAQAACBAAmRlBQRnb25lAmRlAAVieXRl\
    cwQDAP8B
    """,
    """
    avhCewQAAAABAAAAAAAAAAAAAAAAAAAAAAAAAKcAAAAEAAAA7YxugA==
    """
  )

  /// Values that expire in 2090, never, and have expired.
  static let expiring = SampleMMKV(
    """
    AAAAALy7708GYmVmb3JlCgVlYXJseQAAAAAHc2Vzc2lvbgoFdG9rZW4V50PiBW5ldmVyCgVzdGF5cwAAAAAFYnJpZWYKBXNob3J0FlMOawZudW\
    1iZXIGrAIV50Pi
    """,
    """
    K82/wgQAAAACAAAAAAAAAAAAAAAAAAAAAAAAAFkAAAAWAAAADi6ZYQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAB
    """
  )

  /// What ``plain`` has, encrypted.
  static let sealed = SampleMMKV(
    """
    AAAAABDs0XelNbjKB0zD55JLDuqFuyZnty4F6GXVNaFEpLXG7HP2OzUeOAJTiTb99VOMg4D+IaZcFF24/HDmugsg3N7gFTMN4iJYBRrB5j4Q75\
    o6em2yhRsV/lA+Mqq4d7g/VTKs8cu7cU5Xx2Jwfy/+W2pGezAezALBF8gjo5uEqNRJBuFHRY+C39Ft8aZ1e6iXJF5uV0nYDbQpj3GpHGQRUNhW\
    SCpHSf3M
    """,
    """
    xm3dKgQAAAABAAAAUjjGD443tRsCF9XKXs7NoqcAAAAEAAAAhrHnhw==
    """
  )

  /// The same, after it was decrypted and one more value was stored.
  static let unsealed = SampleMMKV(
    """
    AAAAALy7708FYnl0ZXMEAwD/AQVzbWFsbAKsAgVmbG9hdAQAACBAA2kzMgr5//////////8BAm5vAQAEZml2ZQgAAAAAAAAUQAVlbXB0eQEABX\
    JhdGlvCJqZmZmZmbk/A2k2NAbLieyP9yMDeWVzAQECZnIGBVBhcmlzAmF0BQRXaWVuBGxhdGUGBWxhdGVy0FbQ3mYDenzwJNnsUNlXkEQiCtaw\
    8APdg7XH
    """,
    """
    KDH1CwQAAAACAAAACqNIjsJWgiUAm5f2rCHiM4wAAACAAAAAzIcySw==
    """
  )
}
