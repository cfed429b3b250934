/// Whether Codable's keyed containers are what a shelf takes them for: one reference to an object.
///
/// They are on all systems, but nothing promises it, so it is looked at once.
enum ContainerLayout {
  static let isOneReference: Bool = {
    let encoding = MapWriting(session: EncodingSession(), serial: 0, KeySpellings())
    let decoding = MapReading(session: DecodingSession(), KeySpellings())
    return isReference(KeyedEncodingContainer(KeyedEncoding<DocumentKey>(map: encoding)))
      && isReference(KeyedDecodingContainer(KeyedDecoding<DocumentKey>(decoding, isOwner: true)))
  }()

  private static func isReference<Container>(_ container: Container) -> Bool {
    guard MemoryLayout<Container>.size == MemoryLayout<UnsafeRawPointer>.size,
      let content = Mirror(reflecting: container).children.first?.value,
      type(of: content) is AnyClass
    else { return false }
    return unsafeBitCast(container, to: UnsafeRawPointer.self)
      == UnsafeRawPointer(Unmanaged.passUnretained(content as AnyObject).toOpaque())
  }
}
