import Esker
import Synchronization

/// Thumbnails of photographs: made once for all who ask, kept decoded in memory and packed in a log, each within a limit.
final class Album: Sendable {
  /// The name of the photograph, and the width of the thumbnail.
  typealias Key = CompositeKey<String, Int>

  let store: LogStore
  let thumbnails: HybridStorage<LogStorage<Key, Picture>>
  private let count = Mutex(0)

  init(at path: String) throws {
    store = try LogStore(at: path, options: Options(capacity: 64 << 20))
    // Pixels that resemble their neighbours are packed to a part of their size.
    let form = Transformer<Picture>.pixmap.then(.lz4)
    let log = try LogStorage(store, "thumbnails", key: Key.self, transformer: form)
    // Memory counts the bytes of the pixels, and holds at most a mebibyte.
    thumbnails = HybridStorage(log, limits: MemoryLimits(cost: 1 << 20)) { $0.pixels.count }
  }

  /// How many thumbnails were made, and not found.
  var made: Int { count.withLock { $0 } }

  /// The thumbnail of a photograph; a mistake in making one is everybody's who waits for it, and nothing is kept.
  func thumbnail(of name: String, width: Int) async throws -> Picture {
    try await thumbnails.async.value(forKey: Key(name, width)) { [self] in
      count.withLock { $0 += 1 }
      guard let picture = Photographs.photograph(name)?.scaled(toWidth: width) else { throw NoPicture(name: name) }
      return picture
    }
  }
}

/// There is no such photograph, or not as large.
struct NoPicture: Error, CustomStringConvertible {
  let name: String

  var description: String { "there is no picture of \(name) of that size" }
}

/// Photographs that need no camera: the same each time.
enum Photographs {
  static func photograph(_ name: String) -> Picture? {
    guard let number = Int(name.drop { !$0.isNumber }), name.hasPrefix("esker") else { return nil }
    let (width, height) = (480, 320)
    var pixels: [UInt8] = []
    pixels.reserveCapacity(3 * width * height)
    for y in 0..<height {
      for x in 0..<width {
        // A ridge below the sky.
        let ridge = 160 + (x - 240) * (x - 240) / 600 + number
        let sky = [UInt8(120 + y / 4), UInt8(170 + y / 4), 235]
        pixels += y < ridge ? sky : [UInt8(150 - y / 8), UInt8(140 - y / 8), 90]
      }
    }
    return Picture(width: width, height: height, pixels: pixels)
  }
}
