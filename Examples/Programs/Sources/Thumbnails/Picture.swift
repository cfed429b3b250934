import Esker

/// Pixels. A type that is not Codable, as those of image libraries are not.
final class Picture: Sendable {
  let width: Int
  let height: Int
  /// Red, green and blue of each pixel, row by row.
  let pixels: [UInt8]

  /// Nil unless there are three bytes for each pixel, and at least one pixel.
  init?(width: Int, height: Int, pixels: [UInt8]) {
    guard (1...Self.longest).contains(width), (1...Self.longest).contains(height), pixels.count == 3 * width * height
    else { return nil }
    self.width = width
    self.height = height
    self.pixels = pixels
  }

  /// More is no picture. It also keeps sizes far from what an Int cannot hold, whatever the bytes of one say.
  static let longest = 1 << 15

  /// The picture, smaller: each pixel is the mean of those that it stands for. Nil if it would be larger, or nothing.
  func scaled(toWidth newWidth: Int) -> Picture? {
    guard (1...width).contains(newWidth) else { return nil }
    let newHeight = max(1, height * newWidth / width)
    var scaled: [UInt8] = []
    scaled.reserveCapacity(3 * newWidth * newHeight)
    for row in 0..<newHeight {
      let rows = row * height / newHeight..<max((row + 1) * height / newHeight, row * height / newHeight + 1)
      for column in 0..<newWidth {
        let columns = column * width / newWidth..<(column + 1) * width / newWidth
        for color in 0..<3 {
          let sum = rows.reduce(0) { sum, y in columns.reduce(sum) { $0 + Int(pixels[3 * (y * width + $1) + color]) } }
          scaled.append(UInt8(sum / (rows.count * columns.count)))
        }
      }
    }
    return Picture(width: newWidth, height: newHeight, pixels: scaled)
  }
}

extension Transformer where Value == Picture {
  /// The portable pixmap, of which every image viewer knows how to show it: a line of text with the size, then the pixels.
  static var pixmap: Transformer {
    Transformer(id: "pixmap") { picture in
      Array("P6 \(picture.width) \(picture.height) 255\n".utf8) + picture.pixels
    } decode: { bytes in
      let bytes = try Transformer<[UInt8]>.bytes.decode(bytes)
      // Bytes from a disk may be anything: what is not a picture is an error, and not a crash.
      let header = bytes.prefix { $0 != UInt8(ascii: "\n") }
      let words = String(decoding: header, as: UTF8.self).split(separator: " ")
      let pixels = Array(bytes.dropFirst(header.count + 1))
      guard
        words.count == 4, words[0] == "P6", words[3] == "255",
        let width = Int(words[1]), let height = Int(words[2]),
        let picture = Picture(width: width, height: height, pixels: pixels)
      else { throw TransformerError.malformed("it is no pixmap") }
      return picture
    }
  }
}
